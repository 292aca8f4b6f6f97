/** The calls of the content service. Generated from its OpenAPI document by `npm run generate`. */
import { type Access, type CallOptions, callJson, callText, callVoid } from '../calling.ts';
import { operationsOf } from '../operations.ts';
import type {
  Announcement,
  FeedSitemap,
  HomeCards,
  PublicGallery,
  PublicGalleryListing,
  SitemapPage,
  Trending,
  UnsubscribeLink,
  UserSitemap,
} from './api.ts';

export type ContentCalls = ReturnType<typeof contentCalls>;

export function contentCalls(access: Access) {
  return {
    ...operationsOf(access),
    /** List the images and videos that users have published (`GET /op/gallery`). */
    readPublicGallery: (query?: PublicGalleryListing, options?: CallOptions): Promise<PublicGallery> =>
      callJson(access, { method: 'GET', path: '/op/gallery', query, repeatable: true }, options),

    /** List users for a sitemap (`GET /sitemap/users`). */
    listUsers: (options?: CallOptions): Promise<UserSitemap> =>
      callJson(access, { method: 'GET', path: '/sitemap/users', repeatable: true }, options),

    /** List public feeds for a sitemap (`GET /sitemap/feeds`). */
    listFeeds: (options?: CallOptions): Promise<FeedSitemap> =>
      callJson(access, { method: 'GET', path: '/sitemap/feeds', repeatable: true }, options),

    /** Read a page of the sitemap of users (`GET /sitemap/users.xml`). */
    readUserSitemap: (query?: SitemapPage, options?: CallOptions): Promise<string> =>
      callText(access, { method: 'GET', path: '/sitemap/users.xml', query, repeatable: true }, options),

    /** Read a page of the sitemap of feeds (`GET /sitemap/feeds.xml`). */
    readFeedSitemap: (query?: SitemapPage, options?: CallOptions): Promise<string> =>
      callText(access, { method: 'GET', path: '/sitemap/feeds.xml', query, repeatable: true }, options),

    /** Read the sitemap index (`GET /sitemap.xml`). */
    readSitemapIndex: (options?: CallOptions): Promise<string> =>
      callText(access, { method: 'GET', path: '/sitemap.xml', repeatable: true }, options),

    /** Read the announcement of the site (`GET /op/announcement`). */
    readAnnouncement: (options?: CallOptions): Promise<Announcement> =>
      callJson(access, { method: 'GET', path: '/op/announcement', repeatable: true }, options),

    /** List the cards of the home page (`GET /op/homecards/v2`). */
    readHomeCards: (options?: CallOptions): Promise<HomeCards> =>
      callJson(access, { method: 'GET', path: '/op/homecards/v2', repeatable: true }, options),

    /** List trending items (`GET /op/trending`). */
    readTrending: (options?: CallOptions): Promise<Trending> =>
      callJson(access, { method: 'GET', path: '/op/trending', repeatable: true }, options),

    /** Show the unsubscribe confirmation page (`GET /unsubscribe`). */
    readUnsubscribePage: (query?: UnsubscribeLink, options?: CallOptions): Promise<string> =>
      callText(access, { method: 'GET', path: '/unsubscribe', query, repeatable: true }, options),

    /** Unsubscribe from notification email (`POST /unsubscribe`). */
    unsubscribe: (query?: UnsubscribeLink, options?: CallOptions): Promise<string> =>
      callText(access, { method: 'POST', path: '/unsubscribe', query, repeatable: true }, options),

    /** Receive an event of the mail provider (`POST /webhooks/resend`). */
    receiveMailEvent: (options?: CallOptions): Promise<void> =>
      callVoid(access, { method: 'POST', path: '/webhooks/resend', repeatable: true }, options),
  };
}
