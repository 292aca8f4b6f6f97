/** What the command palette finds on the desk beside its pages, by the searches of these pages. */
import {
  Brain,
  CircleUserRound,
  Cpu,
  Images,
  ListTree,
  type LucideIcon,
  Mail,
  MessageSquare,
  ScrollText,
  ShieldAlert,
  SlidersHorizontal,
} from 'lucide-react';
import { useEffect, useState } from 'react';
import { navigate } from 'wouter/use-browser-location';
import type { PeoplePage } from '#accounts/people/api.ts';
import type { GenerationRecordPage, Titles } from '#agent/records/api.ts';
import type { EmailList } from '#client/notify/api.ts';
import type { ShownRunPage } from '../../runs/api.ts';
import type { SettingsView } from '../../settings/routes.ts';
import { useConsole } from '../operator.tsx';
import { planName, sinceThen } from '../parts/figures.tsx';
import { useRead } from '../parts/server.ts';
import { searched, useActions } from '../shell/actions.ts';
import { isId, mailStateOf, mailStatusOf, runsHref, useModels } from './names.tsx';

const typingMs = 200;
const most = 5;
const plain = (text: string) => text.toLowerCase().replaceAll('_', ' ');

/** For the person that is found first. */
const deeds: readonly (readonly [words: string, Icon: LucideIcon, to: (id: string, email: string) => string])[] = [
  ['Runs of', ListTree, (id) => `/operator/runs?userId=${id}`],
  ['Images and videos of', Images, (id) => `/operator/runs?kind=generations&userId=${id}`],
  ['Memories of', Brain, (id) => `/operator/memory?entity_id=${id}`],
  ['Audit of', ScrollText, (id) => `/operator/audit?userId=${id}`],
  ['Emails to', Mail, (_id, email) => `/operator/mail?${new URLSearchParams({ q: email })}`],
];

export function DeskSearch() {
  const typed = searched.use().trim();
  const [q, setQ] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed), typingMs);
    return () => clearTimeout(timer);
  }, [typed]);
  const isAsked = useConsole().data?.hasPeople === true && q.length > 1;
  const query = { q, limit: most };
  const useFound = <T,>(path: string, search: Parameters<typeof useRead>[1] = query, enabled = isAsked) =>
    useRead<T>(path, search, { enabled }).data;
  const people = useFound<PeoplePage>('/api/people')?.people ?? [];
  const titles = useFound<Titles>('/api/threads/titles', { ids: q }, isAsked && /^[\w-]{8,128}$/.test(q))?.titles ?? {};
  const runs = useFound<ShownRunPage>('/api/runs')?.runs ?? [];
  const orders = useFound<GenerationRecordPage>('/api/generations')?.generations ?? [];
  const mails = useFound<EmailList>('/api/notify/emails', { q })?.data ?? [];
  const settings = useFound<SettingsView>('/api/settings', {})?.groups.flatMap((group) => group.settings) ?? [];
  const named = settings.filter(({ variable }) => plain(variable).includes(plain(q))).slice(0, most);
  const { models = [], media = [] } = useModels().data ?? {};
  const found = (group: string, Icon: LucideIcon, title: string, note: string, to: string) => ({
    ...{ id: to, group, Icon, title, note, isFound: true },
    perform: () => navigate(to),
  });
  const search = `/operator/runs?${new URLSearchParams({ kind: 'generations', q })}`;
  useActions([
    ...people.map(({ id, email, plan }) =>
      found('People', CircleUserRound, email ?? id, planName(plan), `/operator/people/${id}`),
    ),
    ...people
      .slice(0, 1)
      .flatMap(({ id, email }) =>
        deeds.map(([words, Icon, to]) =>
          found('This person', Icon, `${words} ${email ?? id}`, '', to(id, email ?? id)),
        ),
      ),
    ...Object.entries(titles).map(([id, title]) =>
      found('Conversations', MessageSquare, title || id, '', `/operator/runs?threadId=${id}`),
    ),
    ...runs.map(({ taskId, request, status, createdAt }) =>
      found('Runs', ListTree, request ?? taskId, `${status}, ${sinceThen(createdAt)}`, `/operator/runs/${taskId}`),
    ),
    ...orders.map(({ id, prompt, status }) =>
      found('Images and videos', Images, prompt ?? id, status, `/operator/runs?kind=generations&id=${id}`),
    ),
    ...mails
      .slice(0, most)
      .map((mail) =>
        found(
          'Emails',
          Mail,
          `${mail.subject} to ${mail.to.join(', ')}`,
          mailStateOf(mailStatusOf(mail), mail.in_outbox),
          `/operator/mail?${new URLSearchParams({ q: mail.subject, id: mail.id })}`,
        ),
      ),
    ...(isId.test(q)
      ? [found('Incidents', ShieldAlert, 'The incident with this id', '', `/operator/incidents/${q}`)]
      : []),
    ...[...models.map((one) => ({ ...one, kind: 'run' })), ...media]
      .filter(({ id, label }) => isAsked && plain(`${label} ${id}`).includes(plain(q)))
      .map(({ id, label, kind }) =>
        found('Models', Cpu, label, `${kind}s, ${id}`, runsHref({ model: id }, Number(kind === 'run'))),
      ),
    ...named.map(({ variable, isDefault }) =>
      found('Settings', SlidersHorizontal, variable, isDefault ? '' : 'set', `/operator/settings?q=${variable}`),
    ),
    ...(isAsked ? [found('Search', Images, `Search images and videos for “${q}”`, '', search)] : []),
  ]);
  return null;
}
