/** The layout of our own mails: equivalent HTML and text, with what mail clients need. */

import { html, type Markup } from '#platform/escaping.ts';
import type { ContentLanguage } from '#platform/language.ts';
import { textColorOn } from './brand.ts';
import texts from './foottexts.json' with { type: 'json' };
import type { MailContent, MailFacts, TrendingItem } from './types/notification.ts';

export interface Layout {
  readonly subject: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  readonly action: string;
  readonly items?: readonly TrendingItem[] | undefined;
  readonly about?: 'account' | 'report' | undefined;
}

interface Foot {
  readonly sentence: string;
  readonly unsubscribe?: { readonly label: string; readonly url: string };
}

export function layOut(facts: MailFacts, layout: Layout): MailContent {
  const foot = footOf(facts, layout);
  return { subject: layout.subject, html: page(facts, layout, foot).text, text: plain(facts, layout, foot) };
}

function footOf({ language, brand, unsubscribeUrl }: MailFacts, { about: matter = 'account' }: Layout): Foot {
  const { reason, unsubscribe, [matter]: sentence } = footTexts[language];
  const about = (text: string) => text.replaceAll('{brand}', brand.name);
  if (unsubscribeUrl === undefined) return { sentence: about(sentence) };
  return { sentence: about(reason), unsubscribe: { label: unsubscribe, url: unsubscribeUrl } };
}

function plain(facts: MailFacts, { heading, paragraphs, action, items = [] }: Layout, foot: Foot): string {
  const { brand, appUrl } = facts;
  const list = items.map(({ title, url }) => `* ${title}\n  ${url}`);
  const end = [
    foot.sentence,
    ...(foot.unsubscribe === undefined ? [] : [`${foot.unsubscribe.label}\n${foot.unsubscribe.url}`]),
    [brand.name, ...(brand.postalAddress === undefined ? [] : [brand.postalAddress])].join('\n'),
  ];
  return `${[heading, ...paragraphs, ...list, `${action}\n${appUrl}`, '-- ', ...end].join('\n\n')}\n`;
}

const font =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'Noto Sans','PingFang SC','Hiragino Sans','Microsoft YaHei','Malgun Gothic',Arial,sans-serif";

/**
 * Uses tables and styles on elements, because mail clients support little else. Text has a contrast of at least 7 to 1
 * on light and dark backgrounds. Layout tables have the role `presentation`, so that screen readers read only the text.
 */
function page(facts: MailFacts, { subject, heading, paragraphs, action, items = [] }: Layout, foot: Foot): Markup {
  const { language, brand, appUrl } = facts;
  const body = paragraphs.map(
    (paragraph) =>
      html`<p class="text" style="margin:0 0 16px;font-size:16px;line-height:1.6;color:#27272a;overflow-wrap:anywhere">${paragraph}</p>`,
  );
  const list =
    items.length === 0
      ? ''
      : html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="margin:8px 0 0">
${items.map((item) => row(item))}
</table>`;
  return html`<!doctype html>
<html lang="${language.replace('_', '-')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no">
<title>${subject}</title>
<style>
@media (prefers-color-scheme: dark) {
  .ground { background: #18181b !important }
  .sheet { background: #27272a !important; border-color: #3f3f46 !important }
  .text { color: #f4f4f5 !important }
  .quiet { color: #d4d4d8 !important }
  .rule { border-color: #3f3f46 !important }
  .cover { background: #3f3f46 !important }
}
@media (max-width: 480px) {
  .outer { padding: 16px 8px !important }
  .sheet { padding: 24px 20px !important }
  .foot { padding: 16px 20px !important }
  .button { display: block !important; text-align: center !important }
}
</style>
</head>
<body class="ground" style="margin:0;padding:0;background:#f4f4f5;-webkit-text-size-adjust:100%">
<div style="display:none;max-height:0;overflow:hidden">${paragraphs[0] ?? ''}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" class="ground" style="background:#f4f4f5">
<tr><td class="outer" align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;${font}">
<tr><td class="foot" style="padding:0 32px 16px">${head(facts)}</td></tr>
<tr><td class="sheet" style="background:#ffffff;border:1px solid #e4e4e7;border-radius:12px;padding:32px">
<h1 class="text" style="margin:0 0 16px;word-break:${language === 'ko' ? 'keep-all' : 'normal'};font-size:22px;line-height:1.35;font-weight:700;color:#18181b">${heading}</h1>
${body}
${list}
<p style="margin:24px 0 0"><a class="button" href="${appUrl}" style="display:inline-block;padding:13px 22px;border-radius:8px;background:${brand.color};color:${textColorOn(brand.color)};font-size:16px;line-height:1.3;font-weight:600;text-decoration:none">${action}</a></p>
</td></tr>
<tr><td class="foot" style="padding:20px 32px">${footer(facts, foot)}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

function head({ brand }: MailFacts): Markup {
  const name = html`<span class="text" style="font-size:16px;line-height:32px;font-weight:700;color:#18181b">${brand.name}</span>`;
  if (brand.logoUrl === undefined) return name;
  return html`<img src="${brand.logoUrl}" alt="" height="32" style="height:32px;max-width:160px;vertical-align:middle;border:0"> ${name}`;
}

function row({ title, url, imageUrl }: TrendingItem): Markup {
  const cover =
    imageUrl === undefined
      ? ''
      : html`<td width="64" style="padding:10px 16px 10px 0"><a href="${url}"><img src="${imageUrl}" class="cover" alt="" width="64" height="64" style="display:block;width:64px;height:64px;object-fit:cover;border-radius:8px;border:0;background:#e4e4e7"></a></td>`;
  return html`<tr><td class="rule" style="border-top:1px solid #e4e4e7"><table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr>${cover}<td style="padding:14px 0"><a class="text" href="${url}" style="font-size:16px;line-height:1.4;font-weight:600;color:#18181b;text-decoration:none;overflow-wrap:anywhere">${title}</a></td></tr></table></td></tr>`;
}

function footer({ brand }: MailFacts, { sentence, unsubscribe }: Foot): Markup {
  const line = 'margin:0 0 8px;font-size:13px;line-height:1.6;color:#52525b';
  const stop =
    unsubscribe === undefined
      ? ''
      : html` <a class="quiet" href="${unsubscribe.url}" style="color:#52525b;text-decoration:underline">${unsubscribe.label}</a>`;
  const sender = [brand.name, ...(brand.postalAddress === undefined ? [] : [brand.postalAddress])].join(' · ');
  return html`<p class="quiet" style="${line}">${sentence}${stop}</p>
<p class="quiet" style="${line}">${sender}</p>`;
}

// The sentences below every mail; `{brand}` is the operator's name. Russian texts have it in the subject only, because Latin names do
// not inflect.

/** `account` replaces the others in mails about the account itself, and `report` in those to people without one, too. */
export const footTexts: Readonly<Record<ContentLanguage, (typeof texts)['en']>> = texts;
