/** The page of a share: HTML that is complete without its script, and loads nothing from other sites. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { ShareData, SharedMedia, SharedMessage } from '#media/shares/api.ts';
import { createGate } from '#platform/concurrency.ts';
import { html, type Markup } from '#platform/escaping.ts';
import type { ContentLanguage } from '#platform/language.ts';
import strengths from '#platform/strengths.json' with { type: 'json' };
import reportTexts from './reporttexts.json' with { type: 'json' };
import shareTexts from './texts.json' with { type: 'json' };

// What a share shows to everyone: no owner, no keys of objects, and URLs that end with the share.

interface PublicMedia extends Omit<SharedMedia, 'picture' | 'file' | 'place'> {
  /** The image in up to 2048 pixels without metadata, or the video. */
  readonly url: string;
  /** The same as a PNG or JPEG, which every program opens. Of a video: its file. */
  readonly downloadUrl: string;
  /** In up to 1024 pixels. Of a video: its poster. */
  readonly previewUrl: string | null;
  readonly thumbUrl: string | null;
  /** A JPEG of 1200 × 630 pixels, for previews on other sites. */
  readonly cardUrl: string | null;
}

type PublicPart =
  | Exclude<SharedMessage['parts'][number], { readonly type: 'media' }>
  | { readonly type: 'media'; readonly media: PublicMedia };

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
  const shown = media.map(({ place, ...one }) => showMedia(one, `${edgeUrl}/s/${share.id}/${place}`));
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

function showMedia({ picture, file, ...facts }: Omit<SharedMedia, 'place'>, base: string): PublicMedia {
  const variant = (name: string) => (picture === null ? null : `${base}/${name}`);
  return {
    ...facts,
    url: file === null ? `${base}/full.webp` : `${base}/video`,
    downloadUrl: `${base}/${file !== null ? 'video' : facts.mime === 'image/png' ? 'full.png' : 'full.jpg'}`,
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

const css = readFileSync(new URL('./page.css', import.meta.url), 'utf8');
const script = readFileSync(new URL('./view.js', import.meta.url), 'utf8');
const sourceOf = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`;

/** Attributes of style have the shapes of tiles. */
export const pagePolicy = `default-src 'none'; script-src ${sourceOf(script)}; style-src ${sourceOf(css)}; style-src-attr 'unsafe-inline'; img-src 'self'; media-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;

export function renderShare(view: PublicShare, context: PageContext, answers: Answers): string {
  const { language, brand, edgeUrl } = context;
  const texts = shareTexts[language];
  const url = `${edgeUrl}/s/${view.id}`;
  const signed = (text: string) => (view.author ? text.replace('{author}', () => view.author ?? '') : '');
  const by = signed(texts.by);
  const signedName = view.media === null ? '' : signed(texts[`${view.media.kind}By`]);
  const plainName = signedName || texts[view.kind === 'thread' ? 'conversation' : view.kind];
  const named = titleOf(view) ?? plainName;
  const shown = mediaOf(view);
  const isAlbum = view.kind === 'album';
  // If only a part of an album was generated, each tile names it, as each answer of a conversation does.
  const isMixed = isAlbum && shown.some(({ generated }) => generated === null);
  const mark = view.generated === null || isMixed || view.kind === 'thread' ? '' : texts[view.generated];
  const counts = isAlbum ? (['image', 'video'] as const).map((kind) => countOf(shown, kind, language)) : [];
  const description =
    [mark, by, counts.filter(Boolean).join(', '), descriptionOf(view)].filter(Boolean).join('. ') ||
    dateOf(view.createdAt, language);
  const pictures = shown.filter((one) => one.cardUrl !== null);
  const cardUrl = (pictures.find(({ assetId }) => assetId === view.cover) ?? pictures[0])?.cardUrl ?? undefined;
  const card = cardUrl
    ? html`<meta property="og:image" content="${cardUrl}">
<meta property="og:image:type" content="image/jpeg">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta property="og:image:alt" content="${named}">
<meta name="twitter:image" content="${cardUrl}">
<meta name="twitter:image:alt" content="${named}">`
    : '';
  return layout(context, {
    head: html`<title>${named} · ${brand}</title>
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
    body: html`${view.media === null ? '' : renderMedia(view.media, context)}
<div class="about">
<h1>${view.media === null ? named : plainName}</h1>
<p class="by">${[signedName ? '' : by, ...counts].map((fact) => (fact ? html`<span>${fact}</span>` : html``))}<time datetime="${view.createdAt}">${dateOf(view.createdAt, language)}</time>${mark === '' ? '' : html`<span class="mark">${mark}</span>`}</p>
${isAlbum ? html`<div class="grid ${shown.length === 1 ? 'one' : shown.length < 4 ? 'few' : ''}">${shown.map((one, index) => renderTile(one, `${index + 1} / ${shown.length}`, isMixed, context))}</div>` : view.media === null ? [...view.messages.map((message) => renderMessage(message, view, answers, context)), renderCopy(context)] : renderActions(view.id, view.media, named, context)}
<footer><a href="${url}/report" rel="nofollow">${reportTexts[language].report}</a></footer>
</div>
${shown.length === 0 ? '' : renderView(view.id, shown, named, view.media === null, context)}
<script>${{ text: script }}</script>`,
    shape: view.kind === 'album' ? 'wide' : view.media === null ? 'column' : 'alone',
  });
}

/** The first image and the title of a share, for the form that reports it. */
export function renderSubject(view: PublicShare): Markup {
  const [thumbUrl] = mediaOf(view).flatMap((one) => one.thumbUrl ?? []);
  const image = thumbUrl ? html`<img src="${thumbUrl}" alt="">` : '';
  return html`<p class="subject">${image}<span>${titleOf(view) ?? ''}</span></p>`;
}

/** In place of a page. A share that is not there needs another link, and all other errors another try. */
export function renderError(status: number, context: PageContext): string {
  const { gone, askForNew, busy, tryLater, tryAgain } = shareTexts[context.language];
  const isGone = status === 400 || status === 404;
  return layout(context, {
    head: html`<title>${context.brand}</title>`,
    body: html`<h1>${isGone ? gone : busy}</h1>
<p>${isGone ? askForNew : tryLater}</p>
${isGone ? '' : html`<p class="does"><a class="button primary" href="">${tryAgain}</a></p>`}`,
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
<html lang="${localeOf(language)}">
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

function renderMessage(message: PublicMessage, view: PublicShare, answers: Answers, context: PageContext): Markup {
  const { role, parts } = message;
  const texts = shareTexts[context.language];
  const sources = parts.flatMap((part) => (part.type === 'source' ? [part] : []));
  const shown = parts.map((part) => {
    if (part.type === 'media') {
      const { generated } = part.media;
      const prompt = wordsOf(part.media);
      // The heading of an answer has this mark.
      const mark = generated && !(role === 'assistant' && generated === 'ai') && texts[generated];
      const lines = [mark, prompt && `${texts.prompt}: ${prompt}`].filter(Boolean).join(' · ');
      return renderMedia(part.media, context, lines && html`${lines} ${renderRemix(view.id, part.media, context, '')}`);
    }
    if (part.type === 'source') return html``;
    const plain = html`<p class="text">${part.text}</p>`;
    return role === 'user' ? plain : (answers.get(part.text) ?? plain);
  });
  const links = sources.map(
    ({ url, title }) => html`<li><a href="${url}" rel="nofollow ugc noopener noreferrer">${title}</a></li>`,
  );
  return html`<article class="${role}">
<h2>${role === 'user' ? (view.author ?? texts.prompt) : html`${context.brand} <span class="mark">${texts.ai}</span>`}</h2>
${shown}
${sources.length === 0 ? '' : html`<h2>${texts.sources}</h2><ul>${links}</ul>`}
</article>`;
}

export type Answers = ReadonlyMap<string, Markup>;

/** For the answers of a page. */
const renderingMs = 5000;
const renderings = createGate({ width: 2, maxWaiting: 100, waitTimeoutMs: 4 * renderingMs });
const resourceLimits = { maxOldGenerationSizeMb: 256 };

/**
 * By their text, with those of `before`, and without those that take too long. Each of the `tries` begins with another one, so that
 * one answer never keeps the others from the page. Throws 503 if too many pages wait.
 */
export async function renderAnswers(
  { messages }: Pick<PublicShare, 'messages'>,
  before: Answers = new Map(),
  tries = 0,
): Promise<Answers> {
  const all = messages.flatMap(({ role, parts }) => (role === 'user' ? [] : parts));
  const missing = [...new Set(all.flatMap((part) => (part.type === 'text' ? [part.text] : [])))].filter(
    (text) => !before.has(text),
  );
  if (missing.length === 0) return before;
  const turn = tries % missing.length;
  const texts = [...missing.slice(turn), ...missing.slice(0, turn)];
  const answers = new Map(before);
  await renderings.run(async () => {
    const thread = new Worker(new URL('./markdown.ts', import.meta.url), { workerData: texts, resourceLimits });
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, renderingMs);
    thread.on('message', (text: string) => {
      // The style writes the language above the code.
      const named = text.replaceAll(/<code class="language-([^"]+)"/g, '$& data-language="$1"');
      answers.set(texts[answers.size - before.size] ?? '', { text: named });
      if (answers.size - before.size === texts.length) resolve();
    });
    for (const end of ['error', 'exit']) thread.once(end, () => resolve());
    await promise;
    clearTimeout(timer);
    await thread.terminate();
  });
  return answers;
}

/** Characters of a link's query. A sign-in returns to URLs of up to 2048, and a Chinese character takes nine. */
const longestQuery = 1800;

/** The prompt without the strength of a variation (docs/generation.md#variations-and-motion). */
function wordsOf({ kind, prompt }: PublicMedia): string | null {
  const ending = Object.values(strengths[kind]).find((one) => prompt?.endsWith(one)) ?? '';
  return prompt && (prompt.slice(0, prompt.length - ending.length).trim() || prompt);
}

/** A prompt that is shown can be remixed. */
function renderRemix(id: string, media: PublicMedia, { language, homeUrl }: PageContext, look: string): Markup {
  const { assetId, kind, url } = media;
  const prompt = wordsOf(media);
  if (!homeUrl || !prompt) return html``;
  const place = url.split('/').at(-2);
  // The studio copies the image of the page if the visitor may not use the asset.
  const source = kind === 'image' && { reference: assetId, share: place === '0' ? id : `${id}/${place}` };
  const query = new URLSearchParams({ kind, ...source, prompt });
  for (let most = 1000; String(query).length > longestQuery; most -= 50)
    query.set('prompt', [...prompt].slice(0, most).join(''));
  return html`<a class="${look}" href="${homeUrl}/create?${String(query)}">${shareTexts[language].remix}</a>`;
}

function renderActions(id: string, media: PublicMedia, title: string, context: PageContext): Markup {
  const { prompt: label, download } = shareTexts[context.language];
  const prompt = wordsOf(media);
  return html`${prompt === null ? '' : html`<h2>${label}</h2><p class="text">${prompt}</p>${renderCopy(context)}`}
<p class="does">${renderRemix(id, media, context, 'button primary')}${renderDownload(media, title, download, 'button')}</p>`;
}

/** The script shows it: for the prompt, or for each code of a conversation. */
function renderCopy({ language }: PageContext): Markup {
  const { copy, copied } = shareTexts[language];
  return html`<button type="button" class="copy" data-copied="${copied}" hidden>${copy}</button>`;
}

function renderDownload({ mime, downloadUrl }: PublicMedia, name: string, text: string, look: string): Markup {
  const ending = /\.\w+$/.exec(downloadUrl)?.[0] ?? `.${mime.split('/')[1] ?? 'mp4'}`;
  return html`<a class="${look}" href="${downloadUrl}" download="${name}${ending}">${text}</a>`;
}

const sized = ({ width, height }: PublicMedia): Markup =>
  width === null || height === null ? html`` : html` width="${String(width)}" height="${String(height)}"`;

const renderVideo = (media: PublicMedia, preload: 'none' | 'metadata', alt: string): Markup =>
  html`<video src="${media.url}" controls playsinline preload="${preload}" aria-label="${alt}"${media.previewUrl === null ? '' : html` poster="${media.previewUrl}"`}${sized(media)}></video>`;

function renderMedia(media: PublicMedia, { language }: PageContext, caption: Markup | string = ''): Markup {
  const { kind, url } = media;
  const alt = wordsOf(media) ?? shareTexts[language][kind];
  const shown =
    kind === 'image'
      ? html`<a class="tile" href="${url}"><img src="${url}" alt="${alt}"${sized(media)}></a>`
      : renderVideo(media, 'metadata', alt);
  return html`<figure>${shown}${caption === '' ? '' : html`<figcaption>${caption}</figcaption>`}</figure>`;
}

/** Rows of tiles have one height, and keep the shape of all but very wide and very tall images. */
function renderTile(media: PublicMedia, place: string, isMarked: boolean, { language }: PageContext): Markup {
  const texts = shareTexts[language];
  const { kind, url, previewUrl, width, height, generated } = media;
  const ratio = width && height ? Math.min(2.2, Math.max(0.5, width / height)) : 1;
  const alt = wordsOf(media) ?? `${texts[kind]} ${place}`;
  const poster = previewUrl ?? (kind === 'image' ? url : null);
  const shown =
    poster === null
      ? html`<span>${alt}</span>`
      : html`<img src="${poster}" alt="${alt}"${sized(media)} loading="lazy">`;
  const mark = isMarked && generated !== null ? html`<figcaption>${texts[generated]}</figcaption>` : '';
  return html`<figure class="${kind}" style="--ratio:${ratio.toFixed(3)}"><a class="tile" href="${url}">${shown}</a>${mark}</figure>`;
}

/** What the script shows in the whole window: a strip of slides, through which fingers swipe. */
function renderView(id: string, all: readonly PublicMedia[], title: string, isNamed: boolean, context: PageContext) {
  const texts = shareTexts[context.language];
  const slides = all.map((media, index) => {
    const { kind, url, generated } = media;
    const prompt = wordsOf(media);
    const place = `${index + 1} / ${all.length}`;
    const alt = prompt ?? (isNamed ? `${texts[kind]} ${place}` : texts[kind]);
    const shown =
      kind === 'image'
        ? html`<img src="${url}" alt="${alt}"${sized(media)} loading="lazy">`
        : renderVideo(media, 'none', alt);
    const mark = generated === null ? '' : html`<span class="mark">${texts[generated]}</span>`;
    const bar = html`<p><span>${place}</span>${renderRemix(id, media, context, '')}${renderDownload(media, `${title} ${index + 1}`, texts.download, '')}</p>`;
    return html`<figure>${isNamed ? bar : ''}${shown}${isNamed ? html`<figcaption>${mark} ${prompt ?? ''}</figcaption>` : ''}</figure>`;
  });
  const step = (name: string, label: string, sign: string) =>
    html`<button type="button" class="${name}" aria-label="${label}">${sign}</button>`;
  return html`<dialog aria-label="${title}">${step('close', texts.close, '✕')}<div class="strip">${slides}</div>${step('step', texts.previous, '‹')}${step('step', texts.next, '›')}</dialog>`;
}

function countOf(all: readonly PublicMedia[], kind: PublicMedia['kind'], language: ContentLanguage): string {
  const count = all.filter((one) => one.kind === kind).length;
  const forms: Readonly<Record<string, string>> = shareTexts[language][`${kind}s`];
  const form = forms[new Intl.PluralRules(localeOf(language)).select(count)] ?? forms.other ?? '';
  return count === 0 ? '' : form.replace('{n}', String(count));
}

export const localeOf = (language: ContentLanguage): string => language.replace('_', '-');

const dateOf = (at: string, language: ContentLanguage): string =>
  new Date(at).toLocaleDateString(localeOf(language), { dateStyle: 'long', timeZone: 'UTC' });

const shorten = (text: string): string => {
  // Other sites show Markdown as it is.
  const plain = text.replaceAll(/\*\*|__|`|^#+ /gm, '');
  const line = plain.replaceAll(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= longestTitle ? line : `${characters.slice(0, longestTitle - 1).join('')}…`;
};

function titleOf({ title, media, messages }: PublicShare): string | undefined {
  return shorten(title ?? (media && wordsOf(media)) ?? firstText(messages) ?? '') || undefined;
}

const descriptionOf = ({ messages }: PublicShare): string =>
  shorten(firstText(messages.filter(({ role }) => role === 'assistant')) ?? '');

const firstText = (messages: readonly PublicMessage[]): string | undefined =>
  messages.flatMap(({ parts }) => parts).find((part) => part.type === 'text')?.text;

const mediaOf = ({ media, messages }: PublicShare): readonly PublicMedia[] =>
  media === null
    ? messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'media' ? [part.media] : [])))
    : [media];
