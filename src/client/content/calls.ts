/** The calls of the content service. Generated from its OpenAPI document by `npm run generate`. */
import { type Access, type CallOptions, callJson, callText } from '../calling.ts';
import { operationsOf } from '../operations.ts';
import type { Announcement, FeedSitemap, HomeCards, Trending, UnsubscribeLink, UserSitemap } from './api.ts';

export type ContentCalls = ReturnType<typeof contentCalls>;

export function contentCalls(access: Access) {
  return {
    ...operationsOf(access),
    /** The ids of users, for a sitemap (`GET /sitemap/users`). */
    listUsers: (options?: CallOptions): Promise<UserSitemap> =>
      callJson(access, { method: 'GET', path: '/sitemap/users', repeatable: true }, options),

    /** The ids of public feeds, for a sitemap (`GET /sitemap/feeds`). */
    listFeeds: (options?: CallOptions): Promise<FeedSitemap> =>
      callJson(access, { method: 'GET', path: '/sitemap/feeds', repeatable: true }, options),

    /** The announcement of the site (`GET /op/announcement`). */
    readAnnouncement: (options?: CallOptions): Promise<Announcement> =>
      callJson(access, { method: 'GET', path: '/op/announcement', repeatable: true }, options),

    /** The cards of the front page (`GET /op/homecards/v2`). */
    readHomeCards: (options?: CallOptions): Promise<HomeCards> =>
      callJson(access, { method: 'GET', path: '/op/homecards/v2', repeatable: true }, options),

    /** What is trending (`GET /op/trending`). */
    readTrending: (options?: CallOptions): Promise<Trending> =>
      callJson(access, { method: 'GET', path: '/op/trending', repeatable: true }, options),

    /** The page that asks whether to unsubscribe (`GET /unsubscribe`). */
    readUnsubscribePage: (query?: UnsubscribeLink, options?: CallOptions): Promise<string> =>
      callText(access, { method: 'GET', path: '/unsubscribe', query, repeatable: true }, options),

    /** Send no more notification mails to whom the token names (`POST /unsubscribe`). */
    unsubscribe: (query?: UnsubscribeLink, options?: CallOptions): Promise<string> =>
      callText(access, { method: 'POST', path: '/unsubscribe', query, repeatable: true }, options),
  };
}
