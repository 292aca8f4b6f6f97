import { z } from 'zod';
import { shownMedia, type Trending } from './api.ts';
import { enumOr, fitting, parseDocument } from './items.ts';
import { lookUp, texts } from './localized.ts';
import type { Feature } from './proxy.ts';

const body = z.object({ items: z.array(z.unknown()).nullish() });
const item = z.object({
  coverType: enumOr(shownMedia, 'image'),
  ...texts('title', 'imageCover', 'videoCover', 'url'),
});

/** `GET /op/trending`. */
export const trendingFeature: Feature<readonly z.output<typeof item>[], Trending> = {
  path: '/api/cached/trending',
  parse: (upstream) => fitting(item, parseDocument(body, upstream).items ?? []),
  localize: (items, language) => ({
    items: items.map((item) => ({
      title: lookUp(item, 'title', language),
      coverType: item.coverType,
      cover: lookUp(item, item.coverType === 'video' ? 'videoCover' : 'imageCover', language),
      url: lookUp(item, 'url', language),
    })),
  }),
  empty: { items: [] },
};
