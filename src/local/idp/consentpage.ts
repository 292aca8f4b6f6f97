/** The page on which a user chooses an account: plain HTML forms that work without scripts. */
import { createHash } from 'node:crypto';
import { offeredAddresses } from '#accounts/sampleaccounts.ts';

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem; color: #1d1d28; }
h1 { font-size: 1.4rem; } label { display: block; padding: .5rem 0; }
input[type=email] { font: inherit; width: 100%; padding: .5rem; box-sizing: border-box; }
button { font: inherit; padding: .5rem 1rem; margin: .5rem .5rem 1rem 0; cursor: pointer; }
`;

export const consentPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'`,
};

/** `flowId` and `action` come from the server: a UUID and a path. */
export function renderConsentPage(flowId: string, action: string): string {
  const choices = offeredAddresses.map(
    (address, index) =>
      `<label><input type="radio" name="email" value="${address}"${index === 0 ? ' checked' : ''}> ${address}</label>`,
  );
  const form = (content: string) =>
    `<form method="post" action="${action}">\n<input type="hidden" name="flow" value="${flowId}">\n${content}\n</form>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Local sign-in</title>
<style>${style}</style>
</head>
<body>
<h1>Choose an account</h1>
<p>This page replaces the social sign-in during development. These are test accounts.</p>
${form(`${choices.join('\n')}\n<button type="submit">Continue</button>`)}
${form('<label>Another user <input type="email" name="email" required maxlength="254" placeholder="you@example.com"></label>\n<button type="submit">Continue with this address</button>')}
${form('<button type="submit" name="deny" value="1">Cancel</button>')}
</body>
</html>
`;
}
