/** The page on which a user chooses an account: plain HTML forms that work without scripts. */
import { createHash } from 'node:crypto';
import { offeredAddresses } from '#accounts/sampleaccounts.ts';

const style = `
:root { color-scheme: light dark; --ground: #fbfaf8; --raised: #fff; --ink: #1b1c1f; --quiet: #5b5d66; --edge: #d9d8d4; --accent: #3a49b5; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #16171a; --raised: #202124; --ink: #f1f0ee; --quiet: #a7a9b2; --edge: #3a3c42; --accent: #97a3ff; }
}
* { box-sizing: border-box; }
body { display: grid; place-items: center; min-height: 100vh; margin: 0; padding: 1rem; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { width: min(26rem, 100%); padding: 1.5rem; border: 1px solid var(--edge); border-radius: 1rem; background: var(--raised); }
h1 { margin: 0; font-size: 1.4rem; }
p { margin: .25rem 0 1rem; color: var(--quiet); }
label { display: flex; align-items: center; gap: .75rem; min-height: 44px; }
label.other { display: block; margin-top: 1rem; padding-top: 1rem; border-top: 1px solid var(--edge); }
input { accent-color: var(--accent); }
input[type=email] { width: 100%; min-height: 44px; margin: .25rem 0; padding: .5rem .75rem; border: 1px solid var(--edge); border-radius: .5rem; background: var(--ground); color: inherit; font: inherit; }
button { width: 100%; min-height: 44px; margin-top: .5rem; border: 1px solid var(--edge); border-radius: .5rem; background: none; color: inherit; font: inherit; cursor: pointer; }
button.primary { border-color: var(--accent); background: var(--accent); color: var(--raised); }
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
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Local sign-in</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Choose an account</h1>
<p>This page replaces the social sign-in during development. These are test accounts.</p>
${form(`${choices.join('\n')}\n<button type="submit" class="primary">Continue</button>`)}
${form('<label class="other">Another user <input type="email" name="email" required maxlength="254" placeholder="you@example.com"></label>\n<button type="submit">Continue with this address</button>')}
${form('<button type="submit" name="deny" value="1">Cancel</button>')}
</main>
</body>
</html>
`;
}
