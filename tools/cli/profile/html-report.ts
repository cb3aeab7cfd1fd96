import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../../../bench/replay/command-file.ts';
import type { ReportData } from '../../../src/extras/profile/report-data.ts';

const script = join(packageFolder, 'lib/pages/profile/main.js');

/** JSON for a script element: it contains nothing that ends the element or begins a comment. */
export const embedded = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

/** The report as one file with data, style and script, which makes no requests. */
export function htmlReport(report: ReportData): string {
  const title = `Timers of ${report.command}`.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
  const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${title}</title>
</head>
<body>
<noscript>The report is drawn by a script in this very file.</noscript>
<main id="report"></main>
<script type="application/json" id="data">${embedded(report)}</script>
<script>${readFileSync(script, 'utf8').replaceAll('</script', '<\\/script')}</script>
</body>
</html>
`;
}
