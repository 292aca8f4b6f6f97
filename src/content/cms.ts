/** The connection to the CMS. */
import { monotonicClock } from '#platform/clock.ts';
import { createClient, type HttpClient } from '#platform/http/client.ts';
import type { Telemetry } from '#platform/telemetry/trace.ts';
import { announcementFeature } from './announcement.ts';
import { homeCardsFeature } from './homecards.ts';
import { createProxy, type Feature } from './proxy.ts';
import { trendingFeature } from './trending.ts';

/** The limit for the head and the body of a CMS response (docs/specification/content.md#fail-open). */
export const upstreamTimeoutMs = 3000;

export function openCms(baseUrl: string, telemetry?: Telemetry): HttpClient {
  const traced = telemetry && { telemetry };
  return createClient({ name: 'cms', baseUrl, isInternal: false, timeoutMs: upstreamTimeoutMs, ...traced });
}

export interface CmsFacts {
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
