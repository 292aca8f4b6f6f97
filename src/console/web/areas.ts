/** The pages of the console. To add a page, add a row: the navigation, the routes and the command palette follow. */
import {
  Activity,
  BookOpen,
  Brain,
  Coins,
  Images,
  LayoutGrid,
  ListChecks,
  type LucideIcon,
  Mail as MailIcon,
  MessageSquare,
  ScrollText,
  ShieldAlert,
  SlidersHorizontal,
  Users,
  Webhook,
} from 'lucide-react';
import type { ComponentType } from 'react';
import type { ConsoleInfo } from '../api.ts';
import { lazily } from './shell/lazily.ts';

export interface Page {
  /** May end with one optional parameter. */
  readonly path: string;
  readonly title: string;
  readonly Icon: LucideIcon;
  /** Has no properties. It reads parameters of the path with `useParams`. */
  readonly View: ComponentType;
  /** Needs no session. */
  readonly isPublic?: boolean;
  /** A page is omitted if its service does not run. */
  readonly isAvailable?: (info: ConsoleInfo) => boolean;
}

export const userPages: readonly Page[] = [
  {
    path: '/studio/:threadId?',
    title: 'Studio',
    Icon: MessageSquare,
    View: lazily(async () => (await import('./pages/studio.tsx')).Studio),
    isAvailable: ({ addresses }) => addresses.agent !== undefined,
  },
  {
    path: '/library/:assetId?',
    title: 'Library',
    Icon: Images,
    View: lazily(async () => (await import('./pages/library.tsx')).Library),
  },
  {
    path: '/memory',
    title: 'Memory',
    Icon: Brain,
    View: lazily(async () => (await import('./pages/knowledge.tsx')).Knowledge),
    isAvailable: ({ addresses }) => addresses.memory !== undefined,
  },
];

export const operatorPages: readonly Page[] = [
  {
    path: '/operator',
    title: 'Overview',
    Icon: Activity,
    View: lazily(async () => (await import('./operator/overview.tsx')).Overview),
  },
  {
    path: '/operator/jobs',
    title: 'Jobs',
    Icon: ListChecks,
    View: lazily(async () => (await import('./operator/jobs.tsx')).Jobs),
    isAvailable: ({ hasDatabase }) => hasDatabase,
  },
  {
    path: '/operator/models',
    title: 'Models and costs',
    Icon: Coins,
    View: lazily(async () => (await import('./operator/models.tsx')).Models),
    isAvailable: ({ hasPeople }) => hasPeople,
  },
  {
    path: '/operator/people/:personId?',
    title: 'People',
    Icon: Users,
    View: lazily(async () => (await import('./operator/people.tsx')).People),
    isAvailable: ({ hasPeople }) => hasPeople,
  },
  {
    path: '/operator/incidents/:incidentId?',
    title: 'Incidents',
    Icon: ShieldAlert,
    View: lazily(async () => (await import('./operator/incidents.tsx')).Incidents),
    isAvailable: ({ hasPeople }) => hasPeople,
  },
  {
    path: '/operator/mail',
    title: 'Mail',
    Icon: MailIcon,
    View: lazily(async () => (await import('./operator/mail.tsx')).Mail),
    isAvailable: ({ hasOutbox, hasPeople }) => hasOutbox || hasPeople,
  },
  {
    path: '/operator/webhooks',
    title: 'Webhooks',
    Icon: Webhook,
    View: lazily(async () => (await import('./pages/webhooks.tsx')).Webhooks),
    isAvailable: ({ hasWebhooks }) => hasWebhooks,
  },
  {
    path: '/operator/memory',
    title: 'Memory',
    Icon: Brain,
    View: lazily(async () => (await import('./pages/memory.tsx')).Memory),
    isAvailable: ({ hasMemory }) => hasMemory,
  },
  {
    path: '/operator/audit',
    title: 'Audit',
    Icon: ScrollText,
    View: lazily(async () => (await import('./operator/audit.tsx')).Audit),
    isAvailable: ({ hasPeople }) => hasPeople,
  },
  {
    path: '/operator/settings',
    title: 'Settings',
    Icon: SlidersHorizontal,
    View: lazily(async () => (await import('./operator/settings.tsx')).Settings),
  },
  {
    path: '/operator/content',
    title: 'Content',
    Icon: LayoutGrid,
    View: lazily(async () => (await import('./pages/content.tsx')).Content),
    isPublic: true,
  },
  {
    path: '/operator/api-reference',
    title: 'API reference',
    Icon: BookOpen,
    View: lazily(async () => (await import('./pages/reference.tsx')).Reference),
    isPublic: true,
  },
];

/** Paths of earlier versions, and where they lead. */
export const movedPaths: readonly (readonly [from: string, to: string])[] = [
  ['/mail', '/operator/mail'],
  ['/webhooks', '/operator/webhooks'],
  ['/content', '/operator/content'],
  ['/api-reference', '/operator/api-reference'],
];

/** The path without its parameter. */
export const linkOf = ({ path }: Page): string => path.replace(/\/:.*$/, '');

export function findPage(pages: readonly Page[], path: string): Page | undefined {
  const takesParameter = (page: Page) => page.path !== linkOf(page);
  return pages.find((page) => path === linkOf(page) || (takesParameter(page) && path.startsWith(`${linkOf(page)}/`)));
}
