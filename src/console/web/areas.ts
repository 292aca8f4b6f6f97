/** The pages of the console. To add a page, add a row: the navigation, the routes and the command palette follow. */
import {
  Activity,
  Album,
  BookOpen,
  Brain,
  CircleUserRound,
  Coins,
  Compass,
  Images,
  LayoutGrid,
  Link2,
  ListChecks,
  ListTree,
  Mail as MailIcon,
  MessageSquare,
  ScrollText,
  ShieldAlert,
  SlidersHorizontal,
  Sparkles,
  Trash2,
  Users,
  Webhook,
} from 'lucide-react';
import type { ComponentType } from 'react';
import type { ConsoleInfo } from '../api.ts';
import { lazily } from './shell/lazily.ts';
import type { Page } from './shell/page.ts';

/** `name`: what the module exports. A page without `isAvailable` always exists. */
function page<Name extends string>(
  path: string,
  title: string,
  Icon: Page['Icon'],
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
  name: Name,
  isAvailable: Page['isAvailable'] = () => true,
): Page {
  return { path, title, Icon, isAvailable, View: lazily(async () => (await load())[name]) };
}

const has = (service: string) => (info: ConsoleInfo) => info.addresses[service] !== undefined;
const is = (flag: 'hasDatabase' | 'hasMemory' | 'hasPeople' | 'hasWebhooks') => (info: ConsoleInfo) => info[flag];

export const userPages: readonly Page[] = [
  page('/studio/:threadId?', 'Studio', MessageSquare, () => import('./pages/studio.tsx'), 'Studio', has('agent')),
  page('/create', 'Create', Sparkles, () => import('./pages/create.tsx'), 'Create', has('agent')),
  page('/explore/:assetId?', 'Explore', Compass, () => import('./pages/explore.tsx'), 'Explore', has('content')),
  page('/library/:assetId?', 'Library', Images, () => import('./pages/library.tsx'), 'Library'),
  page('/albums', 'Albums', Album, () => import('./pages/albums.tsx'), 'Albums'),
  page('/shared', 'Shared links', Link2, () => import('./pages/sharedlinks.tsx'), 'SharedLinks'),
  page('/trash', 'Trash', Trash2, () => import('./pages/trash.tsx'), 'Trash'),
  page('/memory', 'Memory', Brain, () => import('./pages/knowledge.tsx'), 'Knowledge', has('memory')),
  page('/account', 'Account', CircleUserRound, () => import('./pages/account.tsx'), 'Account'),
];

export const operatorPages: readonly Page[] = [
  page('/operator', 'Overview', Activity, () => import('./operator/overview.tsx'), 'Overview'),
  page('/operator/jobs', 'Jobs', ListChecks, () => import('./operator/jobs.tsx'), 'Jobs', is('hasDatabase')),
  page('/operator/runs/:taskId?', 'Runs', ListTree, () => import('./operator/runs.tsx'), 'Runs', is('hasPeople')),
  page('/operator/models', 'Models and costs', Coins, () => import('./operator/models.tsx'), 'Models', is('hasPeople')),
  page(
    '/operator/people/:personId?',
    'People',
    Users,
    () => import('./operator/people.tsx'),
    'People',
    is('hasPeople'),
  ),
  page(
    '/operator/incidents/:incidentId?',
    'Incidents',
    ShieldAlert,
    () => import('./operator/incidents.tsx'),
    'Incidents',
    is('hasPeople'),
  ),
  page(
    '/operator/mail',
    'Mail',
    MailIcon,
    () => import('./operator/mail.tsx'),
    'Mail',
    ({ hasOutbox, hasPeople }) => hasOutbox || hasPeople,
  ),
  page('/operator/webhooks', 'Webhooks', Webhook, () => import('./pages/webhooks.tsx'), 'Webhooks', is('hasWebhooks')),
  page('/operator/memory', 'Memory', Brain, () => import('./memory/profiles.tsx'), 'Memory', is('hasMemory')),
  page('/operator/audit', 'Audit', ScrollText, () => import('./operator/audit.tsx'), 'Audit', is('hasPeople')),
  page('/operator/settings', 'Settings', SlidersHorizontal, () => import('./operator/settings.tsx'), 'Settings'),
  {
    ...page('/operator/content', 'Content', LayoutGrid, () => import('./pages/content.tsx'), 'Content'),
    isPublic: true,
  },
  {
    ...page('/operator/api-reference', 'API reference', BookOpen, () => import('./pages/reference.tsx'), 'Reference'),
    isPublic: true,
  },
];
