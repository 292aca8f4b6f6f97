/** What the routes of the service use. */

import type { AccountTables, visibleRows } from '#accounts/store.ts';
import type { Clock } from '#platform/clock.ts';
import type { Db } from '#platform/db/db.ts';
import type { HttpClient } from '#platform/http/client.ts';

export type SitemapSource = ReturnType<typeof visibleRows>;

export interface ContentContext {
  readonly notify: HttpClient;
  /** RESEND_WEBHOOK_SECRET. Without it, every signature is rejected. */
  readonly webhookSecret: string | undefined;
  readonly cms: HttpClient;
  /** Monotonic. */
  readonly clock: Clock;
  /** Called for each failed read, with the path. */
  readonly onFailure: (path: string, error: unknown) => void;
  readonly accounts: Db<AccountTables>;
  readonly unsubscribeSecret: string;
  readonly users: SitemapSource;
  /** Only public feeds. */
  readonly feeds: SitemapSource;
  /** `undefined`: search engines find no shares. */
  readonly shares?: SitemapSource | undefined;
  readonly pages: { readonly userUrl: string; readonly feedUrl: string };
  /** EDGE_URL, which serves the pages of shares. */
  readonly edgeUrl: string;
  /** CONTENT_PUBLIC_URL; `undefined`: the host of the request. */
  readonly publicUrl: string | undefined;
}
