# SPDX-License-Identifier: Apache-2.0
"""The tables of api/ against all that knows CUDA's functions: the headers of CUDA 12 and 13, and CUPTI's lists.

Every name has exactly one row, and every row is a name that somebody knows. There
is no list of exceptions: left out are one header, whose functions exist in kernels
only, and three entries of CUPTI's lists that are no functions.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import api_coverage  # noqa: E402

HEADERS = (
    "cuda.h", "cudaProfiler.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h",
    "cuda_runtime_api.h", "cuda_profiler_api.h", "cuda_gl_interop.h", "cuda_egl_interop.h", "cuda_vdpau_interop.h",
)  # fmt: skip
# What those include and a machine without graphics lacks. Names of functions do not depend on it.
FOREIGN = ("GL/gl.h", "EGL/egl.h", "EGL/eglext.h", "vdpau/vdpau.h", "cuda_runtime.h")
# As the vendor builds the libraries, with every old version; as a program sees them; and with per-thread streams.
MODES = ("-D__CUDA_API_VERSION_INTERNAL", "-DSYNCTALLY_NOTHING", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM")

FUNCTION = re.compile(r"(?<=[\s*])(_*cu(?:da)?[A-Z]\w*)\s*\((?!\s*\*)")
MARKED = re.compile(r"\b(?:CUDARTAPI|CUDAAPI)\s+(_*cu(?:da)?[A-Z]\w*)\s*\(")
TYPEDEF = re.compile(r"\bPFN_(cu[A-Z]\w*?)_v\d{4,5}(?:_ptsz|_ptds)?\b")
CALLBACK_ID = re.compile(r"\bCUPTI_(?:DRIVER|RUNTIME)_TRACE_CBID_(\w+)\s*=")
SYNCHRONY = re.compile(r"\\note_(?:a?sync)\b")
DOCUMENTED = re.compile(
    r"/\*\*((?:(?!\*/).)*)\*/\s*(?:#if[^\n]*\s+)?(?:extern|CUresult)[^;{}#]*?\b(cu(?:da)?[A-Z]\w*)\s*\(", re.S
)


def include_of(version):
    home = Path(os.environ.get("CUDA_HOME") or "/nonexistent")
    header = home / "include" / "cuda.h"
    if version == 13 and header.exists() and "define CUDA_VERSION 13" in header.read_text(errors="replace"):
        return home / "include"
    return ROOT / f"build/cuda{version}/include"


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def preprocessed(include, header, mode, foreign):
    result = subprocess.run(
        ["gcc", "-E", "-P", "-x", "c", mode, "-I", str(foreign), "-isystem", str(include), "-"],
        input=f"#include <{header}>\n", capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


def declared(include, foreign):
    """Every function that a header declares, by any of the ways in which a program may include it."""
    names = set()
    for header in HEADERS:
        for mode in MODES:
            names.update(FUNCTION.findall(preprocessed(include, header, mode, foreign)))
    return names


def marked(include):
    """A second look, at each header as it is: what bears the mark of the vendor's calling convention."""
    names = set()
    for header in include.rglob("*.h*"):
        # The functions of this header exist in kernels only: no library exports them, no program can call them.
        if header.name != "cuda_device_runtime_api.h":
            names.update(MARKED.findall(without_comments(header.read_text(errors="replace"))))
    return names


def in_typedefs(include):
    """Names as cuGetProcAddress takes them: without the number of a version."""
    names = set()
    for header in include.glob("*Typedefs.h"):
        names.update(TYPEDEF.findall(header.read_text(errors="replace")))
    return names


def traceable(header):
    """The functions of one of CUPTI's lists. Those of the runtime bear the version of CUDA they came with."""
    names = set(CALLBACK_ID.findall(header.read_text())) - {"INVALID", "SIZE", "FORCE_INT"}
    return {re.sub(r"_v\d{4,5}$", "", name) for name in names} if "runtime" in header.name else names


def cupti_headers():
    include = include_of(13)
    for folder in (include, include.parent / "extras" / "CUPTI" / "include"):
        found = [folder / name for name in ("cupti_driver_cbid.h", "cupti_runtime_cbid.h")]
        if all(header.exists() for header in found):
            return found
    return []


def vendor_libraries():
    """Of a CUDA toolkit, if that is where the headers are: the runtime, and the driver to link with."""
    folders = [include_of(13).parent / name for name in ("lib64", "lib")]
    return [
        library
        for name in ("libcudart.so.13", "stubs/libcuda.so")
        for library in [folder / name for folder in folders if (folder / name).exists()][:1]
    ]


def is_runtime(name):
    return re.match(r"_*cuda", name) is not None


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    for name in FOREIGN:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.fixture(scope="module")
def tables():
    """The tables are the same for the headers of 12 and 13 but for rows of functions that only 13 declares."""
    rows, classes, effects = api_coverage.read_tables(13000)
    return rows, classes, effects


@pytest.fixture(scope="module")
def count_of(tables):
    return Counter(name for row in tables[0] for name in api_coverage.exported(row))


@pytest.fixture(scope="module")
def known(foreign):
    """Who knows a name: {source: names}."""
    sources = {}
    for version in (12, 13):
        include = include_of(version)
        sources[f"headers of CUDA {version}"] = declared(include, foreign)
        sources[f"marks in the headers of CUDA {version}"] = marked(include)
    for header in cupti_headers():
        sources[header.name] = traceable(header)
    for library in vendor_libraries():
        exports = api_coverage.exports_of(library)
        sources[library.name] = {name for name in exports if re.match(r"_*cu(da)?[A-Z]", name)}
        assert len(sources[library.name]) > 400
    return sources


def test_the_walk_finds_what_is_there(known):
    """Names of each sort, so that a walk that finds nothing cannot pass for a table that lacks nothing."""
    for version in (12, 13):
        names = known[f"headers of CUDA {version}"]
        assert {
            "cuMemAlloc", "cuMemAlloc_v2", "cuStreamBeginCapture", "cuMemcpyAsync_ptsz", "cuMemcpy_ptds",
            "cudaMemcpyAsync", "cudaMemcpyAsync_ptsz", "cudaMemcpy_ptds", "cudaGetErrorString",
            "cuGLMapBufferObject_v2_ptds", "cuEGLStreamConsumerConnect", "cuVDPAUCtxCreate",
            "cudaGraphicsGLRegisterBuffer", "cudaVDPAUGetDevice", "cuProfilerStop", "cudaProfilerStop",
        } <= names  # fmt: skip
        assert {"cudaEGLStreamConsumerConnect", "__cudaRegisterFatBinary"} <= (
            known[f"marks in the headers of CUDA {version}"]
        )
        assert len([name for name in names if is_runtime(name)]) > 350
        assert len([name for name in names if not is_runtime(name)]) > 600


def test_cuptis_lists_are_there(known):
    if not cupti_headers():
        pytest.skip("this CUDA_HOME comes without CUPTI's headers")
    assert {"cuMemcpyDtoH_v2_ptds", "cuStreamCreateForCaptureToCig"} <= known["cupti_driver_cbid.h"]
    assert {"cudaMemcpy_ptds", "cudaGetTextureObjectTextureDesc_v2", "__cudaLaunchKernel"} <= (
        known["cupti_runtime_cbid.h"]
    )


def test_every_name_has_a_row(known, count_of):
    missing = {f"{name}: {source}" for source, names in known.items() for name in names if not count_of[name]}
    assert not sorted(missing), "no row in api/cuda_api.def or api/cuda_rest.def"


def test_no_name_has_two_rows(count_of):
    assert [name for name, count in sorted(count_of.items()) if count > 1] == []


def test_every_row_is_known_to_somebody(known, count_of):
    if not cupti_headers():
        pytest.skip("some functions are named by CUPTI alone")
    everything = set().union(*known.values())
    assert sorted(set(count_of) - everything) == [], "rows that no header knows"


@pytest.mark.parametrize("version", (12, 13))
def test_every_name_that_cuGetProcAddress_knows_has_a_row(version, count_of):
    bases = {re.sub(r"_v\d$", "", name) for name in count_of}
    names = in_typedefs(include_of(version))
    assert len(names) > 400
    assert sorted(names - bases) == []


def test_rows_without_the_newest_headers(tables, count_of):
    """A row that needs CUDA 13 to compile is a row of a function that CUDA 12's runtime does not declare."""
    older = {row.name for row in api_coverage.read_tables(12000)[0]}
    newer = {row.name for row in tables[0]}
    assert older <= newer
    text = (include_of(12) / "cuda_runtime_api.h").read_text(errors="replace")
    assert [name for name in sorted(newer - older) if re.search(rf"\b{name}\b", text)] == []


def test_library_and_kind_of_each_row(tables):
    rows, classes, effects = tables
    assert [row.name for row in rows if (row.lib == "RT") != is_runtime(row.name)] == []
    assert {row.kind for row in rows if row.table == "api"} <= set(classes)
    assert {row.kind for row in rows if row.table == "rest"} == set(effects)


def test_what_submits_is_not_called_harmless(tables):
    """Who is documented as synchronous or asynchronous with respect to the host does something."""
    rows, _, effects = tables
    idle = {"OBJECT", "HARMLESS", "LOOKUP", "REDIRECTS"}
    assert idle < set(effects)
    effect_of = {row.name: row.kind for row in rows if row.table == "rest"}
    wrong, seen = set(), 0
    for version in (12, 13):
        for header in HEADERS:
            for comment, name in DOCUMENTED.findall((include_of(version) / header).read_text(errors="replace")):
                if SYNCHRONY.search(comment) and name in effect_of:
                    seen += 1
                    wrong.update({name} if effect_of[name] in idle else ())
    assert seen > 50
    wrong.update(name for name, effect in effect_of.items() if re.search(r"Async(_v\d)?$", name) and effect in idle)
    assert sorted(wrong) == []


def test_versions_of_a_function_agree(tables):
    """A newer version of a function takes other arguments; what it does to the host is the same."""
    kinds = {}
    for row in tables[0]:
        if row.table == "rest":
            kinds.setdefault(re.sub(r"_v\d$", "", row.name), set()).add(row.kind)
    assert {name: kind for name, kind in kinds.items() if len(kind) > 1} == {}
