/**
 * `GET /sitemap/users`, `GET /sitemap/feeds` (docs/specification/content.md#sitemaps): JSON, or XML for search engines.
 */
import { escapeXml } from '#platform/escaping.ts';
import type { Listed } from './api.ts';
import { contentProblems } from './problems.ts';

/** The limit of both lists (docs/specification/content.md#sitemaps). */
export const maxListed = 10_000;

type List = (page: {
  readonly limit: number;
  readonly after?: string;
}) => Promise<readonly { readonly id: string; readonly updatedAt: Date }[]>;

/** `after`: the last id of the previous page. */
export async function readListed(list: List, after?: string): Promise<Listed[]> {
  const rows = await read(() => list({ limit: maxListed, ...(after === undefined ? {} : { after }) }));
  return rows.map(({ id, updatedAt }) => ({ id, updated_at: updatedAt.toISOString() }));
}

export function readPageEnds(listPageEnds: (size: number) => Promise<readonly string[]>): Promise<readonly string[]> {
  return read(() => listPageEnds(maxListed));
}

/**
 * Every failure to read the rows is a 500 here, and not the 503 of other endpoints
 * (docs/specification/content.md#sitemaps).
 */
async function read<T>(rows: () => Promise<T>): Promise<T> {
  try {
    return await rows();
  } catch (cause) {
    throw contentProblems.sitemap_unavailable({ cause });
  }
}

/** `sitemapindex` of the sitemap protocol. */
export function renderSitemapIndex(urls: readonly string[]): string {
  const sitemaps = urls.map((url) => `<sitemap><loc>${escapeXml(url)}</loc></sitemap>\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${sitemaps.join('')}</sitemapindex>\n`;
}

/** `urlset` of the sitemap protocol. `page` is a URL that contains `{id}`. */
export function renderSitemap(listed: readonly Listed[], page: string): string {
  const urls = listed.map(({ id, updated_at }) => {
    const location = page.replaceAll('{id}', () => encodeURIComponent(id));
    return `<url><loc>${escapeXml(location)}</loc><lastmod>${updated_at}</lastmod></url>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('')}</urlset>\n`;
}

/** Returns JSON unless the header names XML with at least the same quality. Wildcards are ignored. */
export function wantsXml(accept: string | undefined): boolean {
  const weights = new Map(
    (accept ?? '')
      .toLowerCase()
      .split(',')
      .map((range) => {
        const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
        const weight = parameters.find((parameter) => parameter.startsWith('q='));
        return [type, weight === undefined ? 1 : Number(weight.slice(2)) || 0];
      }),
  );
  const xml = Math.max(weights.get('application/xml') ?? 0, weights.get('text/xml') ?? 0);
  return xml > 0 && xml >= (weights.get('application/json') ?? 0);
}
