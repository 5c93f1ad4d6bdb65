/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.S - the page of the HTML report, and Chart.js of the distribution, for which CHART_JS is the path */
	.section .rodata
	.globl sy_embedded_page, sy_embedded_chart
	.hidden sy_embedded_page, sy_embedded_chart
sy_embedded_page:
	.incbin "analysis/page.html"
	.byte 0
sy_embedded_chart:
	.incbin CHART_JS
	.byte 0
	.section .note.GNU-stack, "", @progbits
