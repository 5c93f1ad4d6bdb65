# SPDX-License-Identifier: Apache-2.0
# How the libraries of the simulated device are built. Included by the Makefile.
