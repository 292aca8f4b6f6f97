/** The page of a sign-in that cannot start: plain HTML without scripts. */
import { createHash } from 'node:crypto';
import { html } from '#platform/markup.ts';

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem; color: #1d1d28; background: #fff; }
h1 { font-size: 1.4rem; } a { color: #3b3bb3; }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #16161c; } a { color: #a9a9ff; } }
`;

export const failurePageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'`,
};

/** `query`: of the request, with its `?`. `homeUrl`: DEFAULT_REDIRECT_ORIGIN. */
export function renderFailurePage(query: string, homeUrl: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign-in is not available</title>
<style>${{ text: style }}</style>
</head>
<body>
<h1>Sign-in is not available</h1>
<p>The sign-in could not start. Try again in a moment.</p>
<p><a href="${query}">Try again</a> · <a href="${homeUrl}">Back</a></p>
</body>
</html>
`.text;
}
