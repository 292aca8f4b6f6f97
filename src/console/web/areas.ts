/** The pages of the console. To add a page, add a row: the navigation, the routes and the command palette follow. */
import {
  Activity,
  Album,
  BookOpen,
  Brain,
  MessageSquare as Chat,
  CircleUserRound,
  Coins,
  Compass,
  Images,
  LayoutGrid,
  Link2,
  ListChecks,
  ListTree,
  type LucideIcon,
  Mail as MailIcon,
  ScrollText,
  ShieldAlert,
  SlidersHorizontal,
  Sparkles,
  Trash2,
  Users,
  Webhook,
} from 'lucide-react';
import type { ConsoleInfo } from '../api.ts';
import deskPages from './deskpages.json' with { type: 'json' };
import { lazily } from './shell/lazily.ts';
import type { Page } from './shell/page.ts';

type IsAvailable = (info: ConsoleInfo) => boolean;
type Load = Parameters<typeof lazily>[0];
type More = Pick<Page, 'isAvailable' | 'isPublic' | 'isSearched'>;

function page(path: string, title: string, Icon: LucideIcon, load: Load, more: IsAvailable | More = {}): Page {
  return { path, title, Icon, View: lazily(load), ...(typeof more === 'function' ? { isAvailable: more } : more) };
}

const hasPeople: IsAvailable = (info) => info.hasPeople;
const hasMails: IsAvailable = (info) => info.hasOutbox || info.hasPeople;
const hasDatabase: IsAvailable = (info) => info.hasDatabase;
const hasMemory: IsAvailable = (info) => info.hasMemory;
const has =
  (service: string): IsAvailable =>
  ({ addresses }) =>
    addresses[service] !== undefined;
/** Needs no session. */
const all = { isPublic: true };
const found = { isAvailable: hasPeople, isSearched: true };

type Row = Parameters<typeof page>;
const descriptions: Readonly<Record<string, Pick<Page, 'keys' | 'note'>>> = deskPages;
const desk = (...[path, ...row]: Row) => ({ ...page(`/operator${path}`, ...row), ...descriptions[`/operator${path}`] });

export const userPages: readonly Page[] = [
  page('/studio/:threadId?', 'Studio', Chat, async () => (await import('./pages/studio.tsx')).Studio, has('agent')),
  page('/create', 'Create', Sparkles, async () => (await import('./pages/create.tsx')).Create, has('agent')),
  page(
    '/explore/:assetId?',
    'Explore',
    Compass,
    async () => (await import('./pages/explore.tsx')).Explore,
    has('content'),
  ),
  page('/library/:assetId?', 'Library', Images, async () => (await import('./pages/library.tsx')).Library),
  page('/albums', 'Albums', Album, async () => (await import('./pages/albums.tsx')).Albums),
  page('/shared', 'Shared links', Link2, async () => (await import('./pages/sharedlinks.tsx')).SharedLinks),
  page('/trash', 'Trash', Trash2, async () => (await import('./pages/trash.tsx')).Trash),
  page('/memory', 'Memory', Brain, async () => (await import('./pages/knowledge.tsx')).Knowledge, has('memory')),
  page('/account', 'Account', CircleUserRound, async () => (await import('./pages/account.tsx')).Account),
];

export const operatorPages: readonly Page[] = [
  desk('', 'Overview', Activity, async () => (await import('./operator/overview.tsx')).Overview),
  desk('/jobs', 'Jobs', ListChecks, async () => (await import('./operator/jobs.tsx')).Jobs, hasDatabase),
  desk('/runs/:taskId?', 'Runs', ListTree, async () => (await import('./operator/runs.tsx')).Runs, found),
  desk('/models', 'Models and costs', Coins, async () => (await import('./operator/models.tsx')).Models, hasPeople),
  desk('/people/:personId?', 'People', Users, async () => (await import('./operator/people.tsx')).People, found),
  desk(
    '/incidents/:incidentId?',
    'Incidents',
    ShieldAlert,
    async () => (await import('./operator/incidents.tsx')).Incidents,
    hasPeople,
  ),
  desk('/mail', 'Mail', MailIcon, async () => (await import('./operator/mail.tsx')).Mail, hasMails),
  desk('/webhooks', 'Webhooks', Webhook, async () => (await import('./pages/webhooks.tsx')).Webhooks),
  desk('/memory', 'Memory', Brain, async () => (await import('./memory/profiles.tsx')).Memory, hasMemory),
  desk('/audit', 'Audit', ScrollText, async () => (await import('./operator/audit.tsx')).Audit, hasPeople),
  desk('/settings', 'Settings', SlidersHorizontal, async () => (await import('./operator/settings.tsx')).Settings),
  desk('/content', 'Content', LayoutGrid, async () => (await import('./pages/content.tsx')).Content),
  desk('/api-reference', 'API reference', BookOpen, async () => (await import('./pages/reference.tsx')).Reference, all),
];
