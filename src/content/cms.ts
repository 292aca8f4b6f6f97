/** The connection to the CMS, and two of its bodies. */
import { z } from 'zod';
import { monotonicClock } from '#platform/clock.ts';
import { createClient, type HttpClient } from '#platform/http/client.ts';
import type { ContentLanguage } from '#platform/language.ts';
import type { Telemetry } from '#platform/telemetry/trace.ts';
import { type Announcement, shownMedia, type Trending } from './api.ts';
import { enumOr, fitting, homeCardsFeature, lookUp, parseDocument, texts } from './homecards.ts';
import { createProxy, type Feature } from './proxy.ts';

const trendingBody = z.object({ items: z.array(z.unknown()).nullish() });
const trendingItem = z.object({
  coverType: enumOr(shownMedia, 'image'),
  ...texts('title', 'imageCover', 'videoCover', 'url'),
});

/** `GET /op/trending`. */
export const trendingFeature: Feature<readonly z.output<typeof trendingItem>[], Trending> = {
  path: '/api/cached/trending',
  parse: (upstream) => fitting(trendingItem, parseDocument(trendingBody, upstream).items ?? []),
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

const announcementBody = z.object({
  visible: z.boolean().nullish(),
  ...texts('url', 'title', 'description', 'imageUrl'),
});

const noAnnouncement: Announcement = {
  announcement: '',
  url: '',
  visible: false,
  title: '',
  description: '',
  imageUrl: '',
};

/** `GET /op/announcement`. An invisible announcement is empty (docs/specification/content.md#content-endpoints). */
export const announcementFeature: Feature<z.output<typeof announcementBody>, Announcement> = {
  path: '/api/cached/announcements',
  parse: (upstream) => parseDocument(announcementBody, upstream),
  localize: (record, language) => (record.visible === true ? toAnnouncement(record, language) : noAnnouncement),
  empty: noAnnouncement,
};

function toAnnouncement(record: z.output<typeof announcementBody>, language: ContentLanguage): Announcement {
  const title = lookUp(record, 'title', language);
  return {
    announcement: title,
    url: lookUp(record, 'url', language),
    visible: true,
    title,
    description: lookUp(record, 'description', language),
    imageUrl: lookUp(record, 'imageUrl', language),
  };
}

/** The limit for the head and the body of a CMS response (docs/specification/content.md#fail-open). */
export const upstreamTimeoutMs = 3000;

export function openCms(baseUrl: string, telemetry?: Telemetry): HttpClient {
  const traced = telemetry && { telemetry };
  return createClient({ name: 'cms', baseUrl, isInternal: false, timeoutMs: upstreamTimeoutMs, ...traced });
}

interface CmsFacts {
  readonly failures: readonly { readonly path: string; readonly reason: unknown }[];
  /** All content is empty. */
  readonly isEmpty: boolean;
}

/** For doctor: reads each body once, as the content endpoints do. */
export async function readAllOnce(baseUrl: string): Promise<CmsFacts> {
  const cms = openCms(baseUrl);
  const failures: { path: string; reason: unknown }[] = [];
  const onFailure = (path: string, reason: unknown) => void failures.push({ path, reason });
  const isEmpty = async <Body, Shown>(feature: Feature<Body, Shown>) => {
    const { json } = await createProxy({ cms, clock: monotonicClock, onFailure }, feature)('en');
    return json === JSON.stringify(feature.empty);
  };
  try {
    const empty = await Promise.all([
      isEmpty(announcementFeature),
      isEmpty(homeCardsFeature),
      isEmpty(trendingFeature),
    ]);
    return { failures, isEmpty: empty.every(Boolean) };
  } finally {
    await cms.close();
  }
}
