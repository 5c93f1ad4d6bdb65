# SPDX-License-Identifier: Apache-2.0
"""Operations of PyTorch that end in cuDNN, cuFFT, cuSOLVER, cuBLAS, cuSPARSE and NVRTC, and how often each waits.

`OPERATIONS` is a table of (name, code, logical syncs). As a program this module runs each code twice: once under
another file name, so that handles, plans and allocations of the first time do not count, and once as
"<operation N>". The libraries themselves wait in one case; the other waits are PyTorch's around them: it reads a
result code back, or a number of elements, or copies a list to the device.
"""

OPERATIONS = [
    # cuDNN
    ("convolution", "conv(image)", 0),
    ("convolution, backward", "conv(image).sum().backward()", 0),
    ("convolution, channels last", "conv(image_last)", 0),
    ("convolution, bfloat16", "conv16(image16).sum().backward()", 0),
    ("transposed convolution", "F.conv_transpose2d(image, filters).sum().backward()", 0),
    ("batch norm, training", "norm(image.requires_grad_()).sum().backward()", 0),
    ("batch norm, evaluation", "F.batch_norm(image, mean, mean)", 0),
    ("LSTM", "lstm(sequence)[0].sum().backward()", 0),
    ("LSTM with projection", "lstm_projected(sequence)[0].sum().backward()", 0),
    ("GRU, two directions", "gru(sequence)[0].sum().backward()", 0),
    ("RNN", "rnn(sequence)[0].sum().backward()", 0),
    ("attention", "attention(query, query, query).sum().backward()", 0),
    # The mean divides by the lengths of the labels, which are uploaded.
    ("CTC loss, labels on the host", "F.ctc_loss(scores, labels, (50,) * 4, (10,) * 4).backward()", 1),
    # The upload of the labels; and PyTorch 2.13 copies each of the lengths back, five times.
    ("CTC loss, labels on the device", "F.ctc_loss(scores, labels.cuda(), fifties, tens).backward()", 21),
    ("grid_sample", "F.grid_sample(image, F.affine_grid(theta, (4, 3, 8, 8), align_corners=False))", 0),
    # cuFFT
    ("fft", "torch.fft.fft(x)", 0),
    ("rfft and back", "torch.fft.irfft(torch.fft.rfft(x), n=64)", 0),
    ("fft2", "torch.fft.fft2(x)", 0),
    ("fft2 and back", "torch.fft.ifft2(torch.fft.fft2(x))", 0),
    ("stft", "torch.stft(signal, 64, return_complex=True, window=window)", 0),
    # cuSOLVER and cuBLAS; one matrix, and a batch. The wait looks at the result code; the _ex functions do not.
    ("cholesky", "L.cholesky(a)", 1),
    ("cholesky_ex", "L.cholesky_ex(a)", 0),
    ("cholesky of a batch", "L.cholesky(batch)", 1),
    ("cholesky_solve", "torch.cholesky_solve(a, a)", 0),
    ("qr", "L.qr(a)", 0),
    ("qr of a batch", "L.qr(batch)", 0),
    ("eigh", "L.eigh(a)", 1),
    ("eigh of a batch", "L.eigh(batch)", 1),
    ("eigvalsh", "L.eigvalsh(a)", 1),
    # The Jacobian method's codes are read once more, by a .cpu(), to find out whether it converged.
    ("svd", "L.svd(a)", 2),
    ("svd of a batch", "L.svd(batch)", 2),
    ("svd, gesvd", "L.svd(a, driver='gesvd')", 1),
    ("svd, gesvdj", "L.svd(a, driver='gesvdj')", 2),
    ("svdvals", "L.svdvals(a)", 2),
    ("lu", "L.lu(a)", 0),
    ("lu_factor", "L.lu_factor(a)", 1),
    ("lu_factor_ex", "L.lu_factor_ex(a)", 0),
    ("solve", "L.solve(a, a)", 1),
    ("solve_ex", "L.solve_ex(a, a)", 0),
    ("solve of a batch", "L.solve(batch, batch)", 1),
    ("inv", "L.inv(a)", 1),
    ("inv_ex", "L.inv_ex(a)", 0),
    ("lstsq", "L.lstsq(a, a)", 1),
    ("ldl_factor", "L.ldl_factor(a)", 1),
    ("solve_triangular", "L.solve_triangular(a, a, upper=True)", 0),
    ("pinv", "L.pinv(a)", 2),
    ("ormqr", "torch.ormqr(a, a[0], a)", 0),
    ("householder_product", "L.householder_product(a, a[0])", 0),
    # cuSPARSE
    ("CSR matrix times matrix", "csr @ dense", 0),
    ("CSR matrix times vector", "csr @ vector", 0),
    ("CSR matrix times CSR matrix", "csr @ csr", 0),
    # cuSPARSE returns the number of elements of the sum to the host.
    ("CSR matrix plus CSR matrix", "csr + csr_other", 1),
    ("sampled product", "torch.sparse.sampled_addmm(csr, dense, dense.T)", 0),
    ("triangular CSR, matrix", "torch.triangular_solve(dense, csr)", 0),
    ("triangular CSR, vector", "torch.triangular_solve(column, csr)", 0),
    ("BSR matrix times matrix", "bsr @ dense4", 0),
    ("BSR matrix times vector", "bsr @ vector4", 0),
    ("COO matrix times matrix", "torch.sparse.mm(coo, dense)", 0),
    ("COO matrix times matrix, backward", "torch.sparse.mm(coo, dense_grad).sum().backward()", 0),
    # PyTorch itself waits for the stream while it puts the result together.
    ("COO matrix times COO matrix", "torch.sparse.mm(coo, coo)", 2),
    # NVRTC: kernels that PyTorch compiles when they are first wanted.
    ("gcd", "torch.gcd(fifties, tens)", 0),
    ("complex abs", "torch.complex(a, a).abs()", 0),
    ("product of complex numbers", "torch.complex(a, a).prod()", 0),
    ("determinant", "L.det(a)", 0),
    ("i0e", "torch.special.i0e(a)", 0),
    ("zeta", "torch.special.zeta(a, a)", 0),
    ("a kernel of the user's", "fused(a, a)", 0),
    ("TorchScript, fused from the second time on", "[scripted(a, a) for _ in range(3)]", 0),
]

# Seen with PyTorch 2.6; where between it and 2.13 the change came is not known.
OF_2_6 = {"CTC loss, labels on the device": 19, "COO matrix times COO matrix": 1}


def expected(torch_version):
    """Name to logical syncs, as this version of PyTorch (major, minor) does it."""
    counts = {name: syncs for name, _, syncs in OPERATIONS}
    if torch_version <= (2, 6):
        counts.update(OF_2_6)
    return counts


def scripted(x, y):
    return (x * y + y).relu() * x


def world():
    """The names the codes use."""
    import torch
    import torch.nn.functional as F
    from torch import nn
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def attention(*args):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return F.scaled_dot_product_attention(*args, is_causal=True)

    torch.set_default_device("cuda")
    a = torch.randn(16, 16)
    offsets, columns = torch.tensor([0, 1, 2, 3]), torch.tensor([2, 0, 1])
    coo = torch.sparse_coo_tensor(torch.stack([torch.arange(3), columns]), torch.ones(3), (3, 3)).coalesce()
    blocks = torch.sparse_bsr_tensor(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.randn(2, 2, 2), (4, 4))
    image = torch.randn(4, 3, 8, 8)
    return {
        "torch": torch,
        "F": F,
        "L": torch.linalg,
        "attention": attention,
        "conv": nn.Conv2d(3, 8, 3, padding=1),
        "conv16": nn.Conv2d(3, 8, 3, padding=1).bfloat16(),
        "filters": torch.randn(3, 8, 3, 3, requires_grad=True),
        "image": image,
        "image16": image.bfloat16(),
        "image_last": image.to(memory_format=torch.channels_last),
        "theta": torch.randn(4, 2, 3),
        "norm": nn.BatchNorm2d(3),
        "mean": torch.ones(3),
        "sequence": torch.randn(7, 4, 8),
        "lstm": nn.LSTM(8, 16, 2, dropout=0.1),
        "lstm_projected": nn.LSTM(8, 16, 2, proj_size=4),
        "gru": nn.GRU(8, 16, 2, bidirectional=True),
        "rnn": nn.RNN(8, 16),
        "query": torch.randn(2, 4, 64, 64, dtype=torch.bfloat16, requires_grad=True),
        "scores": torch.randn(50, 4, 20).log_softmax(2).requires_grad_(),
        "fused": torch.cuda.jiterator._create_jit_fn("template <typename T> T fused(T x, T y) { return x * y + y; }"),
        "scripted": torch.jit.script(scripted),
        "labels": torch.ones(40, dtype=torch.int, device="cpu"),
        "fifties": torch.full((4,), 50, dtype=torch.int),
        "tens": torch.full((4,), 10, dtype=torch.int),
        "x": torch.randn(4, 64, 64),
        "signal": torch.randn(400),
        "window": torch.hann_window(64),
        "a": a,
        "batch": torch.randn(4, 16, 16),
        "coo": coo,
        "csr": torch.sparse_csr_tensor(offsets, columns, torch.ones(3), (3, 3)),
        "csr_other": torch.sparse_csr_tensor(offsets, torch.tensor([0, 1, 2]), torch.ones(3), (3, 3)),
        "bsr": blocks,
        "dense": torch.randn(3, 5),
        "dense_grad": torch.randn(3, 5, requires_grad=True),
        "column": torch.randn(3, 1),
        "vector": torch.randn(3),
        "dense4": torch.randn(4, 4),
        "vector4": torch.randn(4),
    }


if __name__ == "__main__":
    names = world()
    for number, (_, code, _) in enumerate(OPERATIONS):
        for file in (f"<first time {number}>", f"<operation {number}>"):
            exec(compile(code, file, "exec"), names)
