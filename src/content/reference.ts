/** The texts of the content service's API reference (docs/specification/content.md). */
import { defineReference } from '#platform/http/apireference.ts';
import { contentProblems } from './problems.ts';

const localized = 'The texts are in the language of `Accept-Language`. If the CMS fails, the result is empty.';
const xml = { 200: ['A sitemap.', 'application/xml'], 304: ['The sitemap matches `If-None-Match`.'] } as const;
const unchanged = { 304: ['The content matches `If-None-Match`.'] } as const;

export const contentReference = defineReference({
  description: 'Public content: sitemaps, the announcement, the cards of the home page, and trending items.',
  tags: { content: 'Public content, unsubscribing, and the webhook of the mail provider.' },
  problems: contentProblems.table,
  operations: {
    'GET /sitemap/users': {
      id: 'listUsers',
      description: 'Returns up to 10,000 users. With `Accept: application/xml`, the response is a sitemap.',
      problems: ['sitemap_unavailable'],
      responses: unchanged,
    },
    'GET /sitemap/feeds': {
      id: 'listFeeds',
      description: 'Returns up to 10,000 public feeds. With `Accept: application/xml`, the response is a sitemap.',
      problems: ['sitemap_unavailable'],
      responses: unchanged,
    },
    'GET /sitemap/users.xml': {
      id: 'readUserSitemap',
      description: 'Returns a sitemap of up to 10,000 users. The sitemap index links to all pages.',
      problems: ['not_found', 'sitemap_unavailable'],
      responses: xml,
    },
    'GET /sitemap/feeds.xml': {
      id: 'readFeedSitemap',
      description: 'Returns a sitemap of up to 10,000 public feeds. The sitemap index links to all pages.',
      problems: ['not_found', 'sitemap_unavailable'],
      responses: xml,
    },
    'GET /sitemap.xml': {
      id: 'readSitemapIndex',
      description: 'Returns the index of all pages of the sitemaps, for search engines.',
      problems: ['sitemap_unavailable'],
      responses: xml,
    },
    'GET /op/announcement': {
      id: 'readAnnouncement',
      description: `Returns the announcement of the site. ${localized}`,
      responses: unchanged,
    },
    'GET /op/homecards/v2': {
      id: 'readHomeCards',
      description: `Returns the cards of the home page. ${localized}`,
      responses: unchanged,
    },
    'GET /op/trending': {
      id: 'readTrending',
      description: `Returns trending items. ${localized}`,
      responses: unchanged,
    },
    'GET /unsubscribe': {
      id: 'readUnsubscribePage',
      description: 'Shows a page with an unsubscribe button. Emails link to this page.',
      responses: { 200: ['The page.', 'text/html'], 400: ['A page for an invalid link.', 'text/html'] },
    },
    'POST /unsubscribe': {
      id: 'unsubscribe',
      description: 'Unsubscribes the user of the token. Mail clients call it for one-click unsubscribe (RFC 8058).',
      responses: { 200: ['A page.', 'text/html'], 400: ['A page for an invalid link.', 'text/html'] },
    },
    'POST /webhooks/resend': {
      id: 'receiveMailEvent',
      description: 'Receives events of the mail provider. The headers must have a valid signature by Svix.',
      problems: ['invalid_signature', 'payload_too_large'],
    },
  },
});
