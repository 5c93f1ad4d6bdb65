/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trainer.c - a training loop in plain C against the CUDA runtime
 *
 * A network with one hidden layer learns whether a point lies inside a circle. Its
 * kernels are host functions of the simulated device, so it computes for real
 * and needs no GPU; everything else is what a CUDA program does. It reads the
 * loss back in every step. Not an example of fast code.
 *
 *	synctally run --sim -- build/examples/trainer [STEPS]
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <synctally.h>
#include <synctally_sim.h>

enum { N_INPUTS = 2, N_HIDDEN = 16, BATCH = 128, N_WEIGHTS = N_HIDDEN * (N_INPUTS + 2) + 1 };
enum { DEFAULT_STEPS = 200 };
static const float LEARNING_RATE = 0.5f;

/* One example: where it lies, and 1 inside the circle, 0 outside. */
struct example {
	float x[N_INPUTS];
	float label;
};

/* The weights, and equally laid out their gradient. */
struct network {
	float input[N_HIDDEN][N_INPUTS];
	float bias[N_HIDDEN];
	float output[N_HIDDEN];
	float output_bias;
};
_Static_assert(sizeof(struct network) == N_WEIGHTS * sizeof(float), "update() sees the network as an array");

/* What lives on the device. */
struct device_state {
	struct network *weights, *gradient;
	struct example *batch;
	float *loss;
};

static void check(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "trainer: %s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}
#define CHECK(call) check(call, #call)

/* ---- kernels -------------------------------------------------------------- */

/* Argument i of a launch, a pointer to device memory. */
static void *device_argument(const struct synctally_sim_launch *launch, unsigned i)
{
	return synctally_sim_host_view(*(void *const *)launch->args[i]);
}

/* The answer for one example, between 0 and 1; `hidden` gets what the layer in between says. */
static float answer(const struct network *network, const struct example *example, float *hidden)
{
	float sum = network->output_bias;

	for (int i = 0; i < N_HIDDEN; i++) {
		hidden[i] = network->bias[i];
		for (int j = 0; j < N_INPUTS; j++)
			hidden[i] += network->input[i][j] * example->x[j];
		hidden[i] = tanhf(hidden[i]);
		sum += network->output[i] * hidden[i];
	}
	return 1.0f / (1.0f + expf(-sum));
}

/* loss_and_gradient(weights, batch, loss, gradient): mean cross entropy over the batch */
static void loss_and_gradient(const struct synctally_sim_launch *launch)
{
	const struct network *weights = device_argument(launch, 0);
	const struct example *batch = device_argument(launch, 1);
	float *loss = device_argument(launch, 2);
	struct network *gradient = device_argument(launch, 3);

	*loss = 0;
	*gradient = (struct network){ .output_bias = 0 };
	for (int n = 0; n < BATCH; n++) {
		float hidden[N_HIDDEN];
		float p = answer(weights, &batch[n], hidden);
		float error = (p - batch[n].label) / BATCH;

		*loss -= logf(batch[n].label > 0 ? p + 1e-7f : 1 - p + 1e-7f) / BATCH;
		gradient->output_bias += error;
		for (int i = 0; i < N_HIDDEN; i++) {
			float back = error * weights->output[i] * (1 - hidden[i] * hidden[i]);

			gradient->output[i] += error * hidden[i];
			gradient->bias[i] += back;
			for (int j = 0; j < N_INPUTS; j++)
				gradient->input[i][j] += back * batch[n].x[j];
		}
	}
}

/* update(weights, gradient, rate): one step of gradient descent */
static void update(const struct synctally_sim_launch *launch)
{
	float *weights = device_argument(launch, 0);
	const float *gradient = device_argument(launch, 1);
	float rate = *(const float *)launch->args[2];

	for (int i = 0; i < N_WEIGHTS; i++)
		weights[i] -= rate * gradient[i];
}

static const size_t pointer_bytes[] = { sizeof(void *), sizeof(void *), sizeof(void *), sizeof(void *) };
static const size_t update_bytes[] = { sizeof(void *), sizeof(void *), sizeof(float) };

/* The address of an entry is what the runtime launches, as the address of a __global__ function would be. */
static const struct synctally_sim_kernel kernels[] = {
	{ "loss_and_gradient", &kernels[0], loss_and_gradient, NULL, 4, pointer_bytes, 40000 },
	{ "update", &kernels[1], update, NULL, 3, update_bytes, 5000 },
};

static void launch(const struct synctally_sim_kernel *kernel, void **args, cudaStream_t stream)
{
	CHECK(cudaLaunchKernel(kernel, (dim3){ 1, 1, 1 }, (dim3){ BATCH, 1, 1 }, args, 0, stream));
}

/* ---- the trainer ----------------------------------------------------------- */

/* Evenly spread over [-1, 1); the same numbers in every run. */
static float next_number(void)
{
	static unsigned seed = 1;

	seed = seed * 1664525u + 1013904223u;
	return (float)(seed >> 8) / (float)(1u << 23) - 1;
}

static void fill_batch(struct example *batch)
{
	for (int n = 0; n < BATCH; n++) {
		float x = 1.5f * next_number(), y = 1.5f * next_number();

		batch[n] = (struct example){ { x, y }, x * x + y * y < 1 ? 1.0f : 0.0f };
	}
}

static void start(struct device_state *device)
{
	struct network weights = { .output_bias = 0 };

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (synctally_sim_register_kernel(&kernels[i]) != 0)
			exit(1);
	}
	for (int i = 0; i < N_HIDDEN; i++) {
		for (int j = 0; j < N_INPUTS; j++)
			weights.input[i][j] = 2 * next_number();
		weights.bias[i] = next_number();
		weights.output[i] = next_number();
	}
	CHECK(cudaMalloc((void **)&device->weights, sizeof(*device->weights)));
	CHECK(cudaMalloc((void **)&device->gradient, sizeof(*device->gradient)));
	CHECK(cudaMalloc((void **)&device->batch, BATCH * sizeof(*device->batch)));
	CHECK(cudaMalloc((void **)&device->loss, sizeof(*device->loss)));
	CHECK(cudaMemcpy(device->weights, &weights, sizeof(weights), cudaMemcpyHostToDevice));
}

/* One step; returns the loss. The host waits once, for the loss. */
static float step(struct device_state *device, struct example *batch, float *host_loss, cudaStream_t stream)
{
	float rate = LEARNING_RATE;
	void *forward_args[] = { &device->weights, &device->batch, &device->loss, &device->gradient };
	void *update_args[] = { &device->weights, &device->gradient, &rate };

	fill_batch(batch);
	CHECK(cudaMemcpyAsync(device->batch, batch, BATCH * sizeof(*batch), cudaMemcpyHostToDevice, stream));
	launch(&kernels[0], forward_args, stream);
	launch(&kernels[1], update_args, stream);
	CHECK(cudaMemcpyAsync(host_loss, device->loss, sizeof(*host_loss), cudaMemcpyDeviceToHost, stream));
	CHECK(cudaStreamSynchronize(stream));
	synctally_step_end();
	return *host_loss;
}

int main(int argc, char **argv)
{
	long n_steps = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_STEPS;
	struct device_state device;
	struct example *batch;
	float *host_loss;
	cudaStream_t stream;

	start(&device);
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMallocHost((void **)&batch, BATCH * sizeof(*batch)));
	CHECK(cudaMallocHost((void **)&host_loss, sizeof(*host_loss)));
	for (long i = 0; i < n_steps; i++) {
		float loss = step(&device, batch, host_loss, stream);

		if (i % 20 == 0 || i == n_steps - 1)
			printf("step %3ld  loss %.4f\n", i, (double)loss);
	}
	CHECK(cudaFreeHost(host_loss));
	CHECK(cudaFreeHost(batch));
	CHECK(cudaStreamDestroy(stream));
	CHECK(cudaFree(device.loss));
	CHECK(cudaFree(device.batch));
	CHECK(cudaFree(device.gradient));
	CHECK(cudaFree(device.weights));
	return 0;
}
