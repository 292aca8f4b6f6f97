/** The items of the digest: the first of the content service, in the reader's language. */
import type { z } from 'zod';
import { trending } from '#content/api.ts';
import type { HttpClient } from '#platform/http/client.ts';
import type { ContentLanguage } from '#platform/language.ts';
import type { Log } from '#platform/log.ts';
import type { TrendingItem } from './types/notification.ts';

export type ReadTrending = (language: ContentLanguage) => Promise<readonly TrendingItem[]>;

const maxItems = 5;
/** Digests are sent in bulk, so many of them share one read. */
const keptMs = 60_000;

/** Never rejects, because a digest without items is better than none. `appUrl`: the base of relative URLs of items. */
export function createTrendingReader(content: HttpClient, appUrl: string, log: Log): ReadTrending {
  const kept = new Map<ContentLanguage, { readonly items: Promise<readonly TrendingItem[]>; readonly until: number }>();
  return (language) => {
    const known = kept.get(language);
    if (known !== undefined && performance.now() < known.until) return known.items;
    const items = read(content, appUrl, language).catch((error: unknown) => {
      log.warn({ err: error }, 'could not read trending items; digests have none for a minute');
      return [];
    });
    kept.set(language, { items, until: performance.now() + keptMs });
    return items;
  };
}

async function read(content: HttpClient, appUrl: string, language: ContentLanguage): Promise<readonly TrendingItem[]> {
  const answer = await content.send({
    method: 'GET',
    route: '/op/trending',
    headers: { 'accept-language': language.replace('_', '-') },
  });
  if (answer.status !== 200) throw new Error(`the content service returned ${answer.status}`);
  return trending
    .parse(answer.json())
    .items.flatMap((item) => toItem(item, appUrl))
    .slice(0, maxItems);
}

function toItem(item: z.output<typeof trending>['items'][number], appUrl: string): readonly TrendingItem[] {
  const url = webUrl(item.url, appUrl);
  if (item.title === '' || url === undefined) return [];
  return [{ title: item.title, url, imageUrl: item.coverType === 'image' ? webUrl(item.cover) : undefined }];
}

function webUrl(text: string, base?: string): string | undefined {
  const url = text === '' ? null : URL.parse(text, base);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}
