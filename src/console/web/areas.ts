/** The pages of the console. To add a page, add a row: the navigation, the routes and the command palette follow. */
import {
  Activity,
  BookOpen,
  Brain,
  CircleUserRound,
  Coins,
  Images,
  LayoutGrid,
  ListChecks,
  Mail as MailIcon,
  MessageSquare,
  ScrollText,
  ShieldAlert,
  SlidersHorizontal,
  Users,
  Webhook,
} from 'lucide-react';
import { lazily } from './shell/lazily.ts';
import type { Page } from './shell/page.ts';

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
  {
    path: '/account',
    title: 'Account',
    Icon: CircleUserRound,
    View: lazily(async () => (await import('./pages/account.tsx')).Account),
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
