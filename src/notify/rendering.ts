/** Makes a mail of a type's texts: HTML and text that say the same, in one language, with what mail clients need. */
import { signUnsubscribe } from '#accounts/unsubscribing.ts';
import type { ContentLanguage } from '#platform/language.ts';
import { html, type Markup } from '#platform/markup.ts';
import { footTexts } from './foot.ts';
import type { MailTexts, NotificationType } from './types/notification.ts';

export interface RenderingDeps {
  /** Where the button leads. */
  readonly appUrl: string;
  /** The page of the content service, without its query. */
  readonly unsubscribeUrl: string;
  readonly unsubscribeSecret: string;
}

export interface RenderedMail {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function renderMail(
  deps: RenderingDeps,
  type: NotificationType,
  { userId, language }: { readonly userId: string; readonly language: ContentLanguage },
): RenderedMail {
  const texts = type.texts[language];
  const link = type.canUnsubscribe
    ? `${deps.unsubscribeUrl}?token=${signUnsubscribe(deps.unsubscribeSecret, userId)}`
    : undefined;
  const foot = footOf(language, link);
  return {
    subject: texts.subject,
    html: page(language, texts, deps.appUrl, foot).text,
    text: plain(texts, deps.appUrl, foot),
    headers: link === undefined ? {} : unsubscribeHeaders(link),
  };
}

/** RFC 8058: mail clients show a button of their own, and send a POST. */
function unsubscribeHeaders(link: string) {
  return { 'List-Unsubscribe': `<${link}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

interface Foot {
  readonly sentence: string;
  readonly unsubscribe?: { readonly label: string; readonly link: string };
}

function footOf(language: ContentLanguage, link: string | undefined): Foot {
  const { reason, unsubscribe, account } = footTexts[language];
  return link === undefined ? { sentence: account } : { sentence: reason, unsubscribe: { label: unsubscribe, link } };
}

function plain({ heading, paragraphs, action }: MailTexts, appUrl: string, { sentence, unsubscribe }: Foot): string {
  const foot = unsubscribe === undefined ? [sentence] : [sentence, `${unsubscribe.label}: ${unsubscribe.link}`];
  return `${[heading, ...paragraphs, `${action}: ${appUrl}`, '-- ', ...foot].join('\n\n')}\n`;
}

/**
 * Tables and styles on elements, because mail clients know little else. Colours keep a contrast of 7 to 1 on light and
 * dark grounds; the layout tables are named as such, so that screen readers read the text alone.
 */
function page(language: ContentLanguage, texts: MailTexts, appUrl: string, { sentence, unsubscribe }: Foot): Markup {
  const font =
    "font-family:-apple-system,'Segoe UI',Roboto,'Noto Sans','PingFang SC','Hiragino Sans','Malgun Gothic',sans-serif";
  const paragraphs = texts.paragraphs.map(
    (paragraph) =>
      html`<p class="text" style="margin:0 0 16px;font-size:16px;line-height:1.6;color:#27272a">${paragraph}</p>`,
  );
  const stop =
    unsubscribe === undefined
      ? ''
      : html` <a class="quiet" href="${unsubscribe.link}" style="color:#52525b">${unsubscribe.label}</a>`;
  return html`<!doctype html>
<html lang="${language.replace('_', '-')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${texts.subject}</title>
<style>
@media (prefers-color-scheme: dark) {
  .ground { background: #18181b !important }
  .sheet { background: #27272a !important }
  .text { color: #f4f4f5 !important }
  .quiet { color: #d4d4d8 !important }
}
</style>
</head>
<body class="ground" style="margin:0;padding:0;background:#f4f4f5">
<div style="display:none;max-height:0;overflow:hidden">${texts.paragraphs[0] ?? ''}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" class="ground" style="background:#f4f4f5">
<tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;${font}">
<tr><td class="sheet" style="background:#ffffff;border-radius:12px;padding:32px">
<h1 class="text" style="margin:0 0 16px;font-size:22px;line-height:1.3;color:#18181b">${texts.heading}</h1>
${paragraphs}
<p style="margin:24px 0 0"><a href="${appUrl}" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#3730a3;color:#ffffff;font-size:16px;font-weight:600;text-decoration:none">${texts.action}</a></p>
</td></tr>
<tr><td class="quiet" style="padding:16px 32px;font-size:13px;line-height:1.6;color:#52525b">${sentence}${stop}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}
