/** The page of a share: HTML that needs no script, and loads nothing from other sites. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import type { ShareData, SharedMedia } from '#media/shares/api.ts';
import { html, type Markup } from '#platform/escaping.ts';
import type { ContentLanguage } from '#platform/language.ts';
import reportTexts from './reporttexts.json' with { type: 'json' };
import shareTexts from './texts.json' with { type: 'json' };

// What a share shows to everyone: no owner, no keys of objects, and URLs that end with the share.

interface PublicMedia extends Omit<SharedMedia, 'picture' | 'file'> {
  /** The image in up to 2048 pixels without metadata, or the video. */
  readonly url: string;
  /** In up to 1024 pixels. Of a video: its poster. */
  readonly previewUrl: string | null;
  readonly thumbUrl: string | null;
  /** A JPEG of 1200 × 630 pixels, for previews on other sites. */
  readonly cardUrl: string | null;
}

type PublicPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'media'; readonly media: PublicMedia }
  | { readonly type: 'source'; readonly url: string; readonly title: string };

interface PublicMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly PublicPart[];
}

export interface PublicShare extends Omit<ShareData, 'media' | 'messages'> {
  /** Of a shared asset. */
  readonly media: PublicMedia | null;
  /** Of a shared conversation. An album is one message with its images and videos. */
  readonly messages: readonly PublicMessage[];
}

/** `edgeUrl`: EDGE_URL. */
export function showShare({ media, messages, ...share }: ShareData, edgeUrl: string): PublicShare {
  const shown = media.map((one, index) => showMedia(one, `${edgeUrl}/s/${share.id}/${index}`));
  return {
    ...share,
    media: share.kind === 'thread' || share.kind === 'album' ? null : (shown[0] ?? null),
    messages: messages.map(({ role, parts }) => ({
      role,
      parts: parts.flatMap((part): readonly PublicPart[] => {
        if (part.type !== 'media') return [part];
        const one = shown[part.index];
        return one === undefined ? [] : [{ type: 'media', media: one }];
      }),
    })),
  };
}

function showMedia({ picture, file, ...facts }: SharedMedia, base: string): PublicMedia {
  const variant = (name: string) => (picture === null ? null : `${base}/${name}`);
  return {
    ...facts,
    url: file === null ? `${base}/full.webp` : `${base}/video`,
    previewUrl: variant('preview.webp'),
    thumbUrl: variant('thumb.webp'),
    cardUrl: variant('card.jpg'),
  };
}

export interface PageContext {
  readonly language: ContentLanguage;
  /** The name of the product. */
  readonly brand: string;
  /** EDGE_URL. */
  readonly edgeUrl: string;
  /** The studio, where visitors make their own. `undefined`: it has no public URL. */
  readonly homeUrl: string | undefined;
}

/** Characters of a title in search results and cards. */
const longestTitle = 90;
const cardSize = { width: 1200, height: 630 } as const;

const css = readFileSync(new URL('./page.css', import.meta.url), 'utf8');
const cssHash = hash('sha256', css, 'base64');

export const pagePolicy = `default-src 'none'; style-src 'sha256-${cssHash}'; img-src 'self'; media-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;

export function renderShare(view: PublicShare, context: PageContext): string {
  const { language, brand, edgeUrl } = context;
  const texts = shareTexts[language];
  const url = `${edgeUrl}/s/${view.id}`;
  const signed = (text: string) => (view.author ? text.replace('{author}', () => view.author ?? '') : '');
  const by = signed(texts.by);
  const signedName = view.media === null ? '' : signed(texts[`${view.media.kind}By`]);
  const own = titleOf(view);
  const named = own ?? (signedName || texts[view.kind === 'thread' ? 'conversation' : view.kind]);
  const title = `${named} · ${brand}`;
  const mark = view.generated === null ? '' : texts[view.generated];
  const description = [mark, by, descriptionOf(view)].filter(Boolean).join('. ') || brand;
  const cardUrl = mediaOf(view).find((one) => one.cardUrl !== null)?.cardUrl ?? undefined;
  const card = cardUrl
    ? html`<meta property="og:image" content="${cardUrl}">
<meta property="og:image:type" content="image/jpeg">
<meta property="og:image:width" content="${String(cardSize.width)}">
<meta property="og:image:height" content="${String(cardSize.height)}">
<meta property="og:image:alt" content="${named}">
<meta name="twitter:image" content="${cardUrl}">
<meta name="twitter:image:alt" content="${named}">`
    : '';
  return layout(context, {
    head: html`<title>${title}</title>
${view.index ? '' : html`<meta name="robots" content="noindex">`}
<meta name="description" content="${description}">
<link rel="canonical" href="${url}">
<meta property="og:title" content="${named}">
<meta property="og:type" content="${view.kind === 'thread' ? 'article' : 'website'}">
<meta property="og:url" content="${url}">
<meta property="og:site_name" content="${brand}">
<meta property="og:description" content="${description}">
<meta name="twitter:card" content="${cardUrl ? 'summary_large_image' : 'summary'}">
<meta name="twitter:title" content="${named}">
<meta name="twitter:description" content="${description}">
${card}`,
    body: html`${view.media === null ? '' : renderMedia(view.media, context, 'alone')}
<div class="about">
<h1>${named}</h1>
<p class="by">${by === '' || named === signedName ? '' : html`<span>${by}</span>`}${mark === '' ? '' : html`<span class="mark">${mark}</span>`}</p>
${view.kind === 'album' ? html`<div class="grid">${mediaOf(view).map((one, index) => renderMedia(one, context, { file: `${named} ${index + 1}` }))}</div>` : view.media === null ? view.messages.map((message) => renderMessage(message, context)) : renderActions(view.media, named, context)}
<footer><a href="${url}/report" rel="nofollow">${reportTexts[language].report}</a></footer>
</div>`,
    shape: view.kind === 'album' ? 'wide' : view.media === null ? 'column' : 'alone',
  });
}

export function renderGone(context: PageContext): string {
  const { gone } = shareTexts[context.language];
  return layout(context, {
    head: html`<title>${context.brand}</title>
<meta name="robots" content="noindex">`,
    body: html`<h1>${gone}</h1>`,
  });
}

interface Parts {
  readonly head: Markup;
  readonly body: Markup;
  /** `alone`: one image or video, as large as the window allows. */
  readonly shape?: 'alone' | 'column' | 'wide';
}

/** The logo of the console, which is also the icon of the pages. */
export const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#3d4fb8"/><path d="M16 7 24.5 25h-4l-1.7-3.9h-5.6L11.5 25h-4zm-1.4 10.9h2.8L16 14.500z" fill="#fff"/></svg>';

/** A page of the edge. Its head leads to the studio. */
export function layout(
  { language, brand, edgeUrl, homeUrl }: PageContext,
  { head, body, shape = 'column' }: Parts,
): string {
  const name = html`${{ text: logo }} ${brand}`;
  const way = homeUrl
    ? html`<a class="brand" href="${homeUrl}/">${name}</a><a class="button primary" href="${homeUrl}/">${shareTexts[language].make}</a>`
    : html`<p class="brand">${name}</p>`;
  return html`<!doctype html>
<html lang="${language.replace('_', '-')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" type="image/svg+xml" href="${edgeUrl}/favicon.ico">
${head}
<style>${{ text: css }}</style>
</head>
<body>
<header>${way}</header>
<main class="${shape}">
${body}
</main>
</body>
</html>
`.text;
}

function renderMessage({ role, parts }: PublicMessage, context: PageContext): Markup {
  const texts = shareTexts[context.language];
  const sources = parts.flatMap((part) => (part.type === 'source' ? [part] : []));
  const shown = parts.map((part) => {
    if (part.type === 'media') return renderMedia(part.media, context);
    if (part.type === 'source') return html``;
    return role === 'user' ? html`<p class="text">${part.text}</p>` : renderMarkdown(part.text);
  });
  const links = sources.map(
    ({ url, title }) => html`<li><a href="${url}" rel="nofollow ugc noopener noreferrer">${title}</a></li>`,
  );
  return html`<article class="${role}">
<h2>${role === 'user' ? texts.question : texts.answer}</h2>
${shown}
${sources.length === 0 ? '' : html`<h2>${texts.sources}</h2><ul>${links}</ul>`}
</article>`;
}

/** Raw HTML and dangerous protocols become text. Images of other sites become links, because the page loads none. */
function renderMarkdown(text: string): Markup {
  const written = micromark(text.replaceAll('![', '['), { extensions: [gfm()], htmlExtensions: [gfmHtml()] });
  return {
    text: written
      .replaceAll('<a href=', '<a rel="nofollow ugc noopener noreferrer" href=')
      // Headings of an answer are below those of the page.
      .replaceAll(
        /<(\/?)h([1-6])>/g,
        (_all, slash: string, level: string) => `<${slash}h${Math.min(6, Number(level) + 2)}>`,
      )
      .replaceAll('<pre>', '<pre tabindex="0">'),
  };
}

/** Characters of a link's query. A sign-in returns to URLs of up to 2048, and a Chinese character takes nine. */
const longestQuery = 1800;

/** A prompt that is shown can be remixed, and what is shown can be downloaded. A prompt that is the title is not repeated. */
function renderActions(media: PublicMedia, title: string, { language, homeUrl }: PageContext): Markup {
  const { assetId, kind, prompt } = media;
  const { prompt: label, remix, download } = shareTexts[language];
  const isTitle = prompt === null || prompt.replaceAll(/\s+/g, ' ').trim() === title;
  // The studio leaves out a reference that the visitor may not use.
  const query = new URLSearchParams({ kind, ...(kind === 'image' && { reference: assetId }), prompt: prompt ?? '' });
  for (let most = 1000; String(query).length > longestQuery; most -= 50)
    query.set('prompt', [...(prompt ?? '')].slice(0, most).join(''));
  const way =
    homeUrl && prompt ? html`<a class="button primary" href="${homeUrl}/create?${String(query)}">${remix}</a>` : '';
  return html`${isTitle ? '' : html`<h2>${label}</h2><p class="text">${prompt}</p>`}
<p class="does">${way}${renderDownload(media, title, download, 'button')}</p>`;
}

const renderDownload = ({ kind, mime, url }: PublicMedia, name: string, text: string, look: string): Markup =>
  html`<a class="${look}" href="${url}" download="${name}.${kind === 'image' ? 'webp' : (mime.split('/')[1] ?? 'mp4')}">${text}</a>`;

/**
 * With the name of its file, it is a tile: a small image leads to the large one, and is loaded when the visitor scrolls to it.
 * `alone`: without a caption.
 */
function renderMedia(
  media: PublicMedia,
  { language }: PageContext,
  look?: 'alone' | { readonly file: string },
): Markup {
  const texts = shareTexts[language];
  const isTile = typeof look === 'object';
  const { kind, url, previewUrl, width, height, prompt, generated } = media;
  const size = width === null || height === null ? '' : html` width="${String(width)}" height="${String(height)}"`;
  const alt = prompt ?? texts[kind];
  const shown =
    kind === 'image'
      ? isTile
        ? html`<a href="${url}"><img src="${previewUrl ?? url}" alt="${alt}"${size} loading="lazy"></a>`
        : html`<img src="${url}" alt="${alt}"${size}>`
      : html`<video src="${url}" controls playsinline preload="${isTile ? 'none' : 'metadata'}" aria-label="${alt}"${previewUrl === null ? '' : html` poster="${previewUrl}"`}${size}></video>`;
  const lines = [generated === null ? '' : texts[generated], prompt === null ? '' : `${texts.prompt}: ${prompt}`];
  const caption = look === 'alone' ? '' : lines.filter(Boolean).join(' · ');
  return html`<figure>${shown}${caption === '' ? '' : html`<figcaption>${caption}</figcaption>`}${isTile ? renderDownload(media, look.file, texts.download, 'download') : ''}</figure>`;
}

const shorten = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= longestTitle ? line : `${characters.slice(0, longestTitle - 1).join('')}…`;
};

function titleOf({ title, media, messages }: PublicShare): string | undefined {
  return shorten(title ?? media?.prompt ?? firstText(messages) ?? '') || undefined;
}

const descriptionOf = ({ messages }: PublicShare): string =>
  shorten(firstText(messages.filter(({ role }) => role === 'assistant')) ?? '');

function firstText(messages: readonly PublicMessage[]): string | undefined {
  for (const { parts } of messages) for (const part of parts) if (part.type === 'text') return part.text;
  return undefined;
}

const mediaOf = ({ media, messages }: PublicShare): readonly PublicMedia[] =>
  media === null
    ? messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'media' ? [part.media] : [])))
    : [media];
