/** Sent mails, previews of all types, suppressed addresses, and the outbox of an installation that sends no mail. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useDeferredValue, useState } from 'react';
import { Link } from 'wouter';
import type { Email, EmailList, NotificationTypes, SuppressionPage } from '#client/notify/api.ts';
import type { MailList, Mail as OutboxMail } from '../../api.ts';
import { callJson, send } from '../calls.ts';
import { Changes, useConsole, useMayChange } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Choice, TextArea } from '../parts/fields.tsx';
import { countOf, momentOf, untilThen, When } from '../parts/figures.tsx';
import { Choices, Listing, SearchFilter, useFilters, usePages } from '../parts/listing.tsx';
import { keyOf, urlOf, useDeed, useRead } from '../parts/server.ts';
import { Empty, Failure, Loading, PageHead, Pending, Problem, Status } from '../parts/states.tsx';
import { Views } from '../parts/views.tsx';
import { Entry } from './entry.tsx';
import texts from './mailtexts.json' with { type: 'json' };
import { languageChoices, mailStateOf, mailStatusOf, Recipients } from './names.tsx';

export function Mail() {
  const { hasPeople = false, hasOutbox = false } = useConsole().data ?? {};
  const views = [
    ['sent', 'Sent', SentMails, hasPeople],
    ['outbox', 'Outbox', Outbox, hasOutbox],
    ['previews', 'Previews', Previews, hasPeople],
    ['suppressed', 'Suppressed', Suppressions, hasPeople],
  ] as const;
  return (
    <div className="operator">
      <PageHead title="Mail">Emails to users and operators, and what became of each.</PageHead>
      <Views of={views.filter(([, , , isThere]) => isThere).map(([value, label, View]) => [value, label, View])} />
    </div>
  );
}

/** Values that show what a built-in type can do. */
const examples: Readonly<Record<string, string>> = {
  'account_deletion.scheduled': '{ "deletion_at": "2027-03-04" }',
};

function Previews() {
  const { data, error, refetch } = useRead<NotificationTypes>('/api/notify/types', {}, { staleTime: Infinity });
  const [chosen, setChosen] = useState('');
  const [locale, setLocale] = useState('en');
  const [typed, setTyped] = useState<string>();
  const types = data?.types ?? [];
  const type = types.find((one) => one.type === chosen) ?? types[0];
  const values = useDeferredValue(typed ?? examples[type?.type ?? ''] ?? '{}');
  if (type === undefined) return <Pending error={error} retry={refetch} what="Reading the types" />;
  return (
    <div className="previews">
      <form className="stack" aria-label="Preview" onSubmit={(event) => event.preventDefault()}>
        <Choice
          label="Type"
          choices={types.map(({ type: name }) => [name, name])}
          value={type.type}
          onChange={(name) => {
            setChosen(name);
            setTyped(undefined);
          }}
        />
        <Choice
          label="Language"
          choices={languageChoices.filter(([tag]) => type.locales.includes(tag))}
          value={locale}
          onChange={setLocale}
        />
        <TextArea
          label="Values, as JSON"
          rows={8}
          spellCheck={false}
          className="code"
          value={typed ?? examples[type.type] ?? '{}'}
          onChange={setTyped}
        />
        <p className="quiet">
          {type.audience === 'account'
            ? 'An account email. It is sent regardless of the settings of the user.'
            : 'A product email. Users can turn it off and unsubscribe.'}
        </p>
      </form>
      <Shown type={type.type} locale={type.locales.find((one) => one === locale) ?? 'en'} values={values} />
    </div>
  );
}

function Shown({ type, locale, values }: { readonly type: string; readonly locale: string; readonly values: string }) {
  const path = `/api/notify/types/${encodeURIComponent(type)}`;
  const query = { locale, data: values };
  const { data, error } = useRead<{ subject: string; text: string }>(`${path}/preview`, query, {
    placeholderData: (previous) => previous,
  });
  if (error) return <Failure error={error} />;
  if (data === undefined) return <Loading what="Rendering the email" />;
  return <Rendered of={data} label="The email" lang={locale.replace('_', '-')} page={urlOf(`${path}/html`, query)} />;
}

interface RenderedProps {
  readonly of: { readonly subject: string; readonly text: string };
  readonly label: string;
  readonly lang?: string;
  /** Absent: the mail is text only. */
  readonly page: string | undefined;
  readonly children?: ReactNode;
}

function Rendered({ of: { subject, text }, label, lang, page, children }: RenderedProps) {
  const [isText, setText] = useState(false);
  return (
    <article className="card mail" aria-label={label}>
      <div className="row">
        <h2 lang={lang}>{subject}</h2>
        {page && (
          <button type="button" onClick={() => setText(!isText)}>
            {isText ? 'Show as a page' : 'Show as text'}
          </button>
        )}
      </div>
      {children}
      {page && !isText ? <iframe title={`Email: ${subject}`} sandbox="" src={page} /> : <pre lang={lang}>{text}</pre>}
    </article>
  );
}

type Suppression = SuppressionPage['suppressions'][number];

function Suppressions() {
  const pages = usePages<SuppressionPage>('/api/notify/suppressions');
  return (
    <>
      <p className="quiet">Suppressed addresses receive no email.</p>
      <Changes />
      <Listing
        pages={pages}
        label="Suppressed addresses"
        itemsOf={({ suppressions }) => suppressions}
        keyOf={({ address }) => address}
        empty={
          <Empty title="No address is suppressed.">
            <p>An address is suppressed when its mailbox is missing, or when its owner reports an email as spam.</p>
          </Empty>
        }
      >
        {(suppression) => <Row suppression={suppression} />}
      </Listing>
    </>
  );
}

function Row({ suppression: { address, reason, since } }: { readonly suppression: Suppression }) {
  const mayChange = useMayChange();
  const lifting = useDeed(async () => {
    await send(`/api/notify/suppressions/${encodeURIComponent(address)}`, { method: 'DELETE' });
    return `Email is sent to ${address} again.`;
  }, ['notify', 'suppressions']);
  return (
    <Entry
      title={address}
      more={
        mayChange && (
          <Confirm label="Lift" question={`Send email to ${address} again?`} onConfirm={() => lifting.mutateAsync()} />
        )
      }
      at={since}
      facts={[reason]}
      problem={lifting.error?.message}
    />
  );
}

const states = [
  ['', 'All'],
  ['delayed', 'Delayed'],
  ['failed', 'Failed'],
] as const;

const tones = {
  scheduled: 'busy',
  delayed: 'warn',
  sent: 'quiet',
  delivered: 'good',
  bounced: 'bad',
  complained: 'bad',
  failed: 'bad',
  canceled: 'quiet',
} as const;

function SentMails() {
  const { of, change } = useFilters();
  const [q, opened] = [of('q').trim(), of('id')];
  const state = states.find(([value]) => value === of('status'))?.[0] ?? '';
  const pages = useInfiniteQuery({
    queryKey: keyOf('/api/notify/emails/pages', { q, state }),
    queryFn: ({ pageParam: after }) => callJson<EmailList>(urlOf('/api/notify/emails', { q, status: state, after })),
    refetchInterval: 10_000,
    initialPageParam: '',
    getNextPageParam: ({ data: mails, has_more }) => (has_more ? mails.at(-1)?.id : undefined),
    placeholderData: (previous) => previous,
  });
  return (
    <>
      <search className="row desk-filters">
        <Choices label="Status" of={states} chosen={state} choose={(status) => change({ status }, false)} />
        <SearchFilter label="Search" placeholder="Subject or recipient" maxLength={320} />
      </search>
      <Listing
        pages={pages}
        label="Emails"
        itemsOf={(page) => page.data.map((mail) => ({ ...mail, status: mailStatusOf(mail) }))}
        keyOf={({ id }) => id}
        empty={
          <Empty
            title={
              q !== ''
                ? 'No email matches.'
                : state === ''
                  ? 'No email was sent in the last 30 days.'
                  : `No email ${state === 'failed' ? 'has failed' : 'is delayed'}.`
            }
          >
            {q !== '' && <p>Enter a part of a subject or of an address. Emails are listed for 30 days.</p>}
          </Empty>
        }
      >
        {({ id, to, subject, status, in_outbox, created_at, scheduled_at, reason, next_attempt_at }) => (
          <Entry
            title={subject || '(no subject)'}
            status={<Status tone={tones[status]}>{mailStateOf(status, in_outbox)}</Status>}
            at={created_at}
            facts={[
              `To ${to.join(', ')}`,
              status === 'scheduled' && scheduled_at !== null && `to be sent ${momentOf(scheduled_at)}`,
              reason !== null && next_attempt_at !== null && `Next attempt ${untilThen(next_attempt_at)}`,
            ]}
            problem={reason}
            isOpen={id === opened}
            onOpen={() => change({ id: id === opened ? '' : id }, id === opened)}
          >
            {id === opened && <SentMail id={id} to={to} isStored={in_outbox && status === 'sent'} />}
          </Entry>
        )}
      </Listing>
    </>
  );
}

/** What the operator can do about an email with this status. */
const advice: Readonly<Partial<Record<Email['status'], string>>> = texts.advice;

/** Its text is deleted a day after it was due, or when it is sent. */
const canRetry = ({ status, events, html, text }: Email): boolean =>
  (html !== null || text !== null) && (status === 'failed' || events.some(({ type }) => type === 'delivery_delayed'));

function adviceFor({ status, next_attempt_at, events }: Email): string | undefined {
  const next = next_attempt_at === null ? 'now' : untilThen(next_attempt_at);
  if (status === 'failed' && next_attempt_at !== null)
    return `The job that requested this email tries it again: next attempt ${next}.`;
  if (status === 'failed' && events.at(-1)?.reason?.endsWith('is suppressed')) return texts.allSuppressed;
  if (status === 'scheduled' && events.length > 0)
    return `The email is tried again automatically, for a day after it was due. Next attempt ${next}.`;
  return advice[status];
}

/** What became of a recipient of an email that did not reach all. */
function outcomeFor({ accepted, suppressed, status, next_attempt_at }: Email, address: string): string {
  if (accepted.includes(address)) return 'accepted';
  if (suppressed.includes(address)) return 'suppressed';
  return status !== 'failed' ? '' : next_attempt_at === null ? 'not sent' : 'not sent yet';
}

type Event = Email['events'][number];

/** The attempts of an email, each once: a failure that ends it is the last attempt. Equal attempts in a row are one entry. */
function attemptsOf(events: readonly Event[]) {
  const entries: (Event & { count: number })[] = [];
  for (const [at, event] of events.entries()) {
    const { type, reason } = event;
    const [last, next] = [entries.at(-1), events[at + 1]];
    if (type === 'delivery_delayed' && next?.type === 'failed' && reason?.startsWith(next.reason ?? '')) continue;
    if (last?.type === type && last.reason === reason) Object.assign(last, event, { count: last.count + 1 });
    else entries.push({ ...event, count: 1 });
  }
  return entries;
}

function SentMail({ id, to, isStored }: Pick<Email, 'id' | 'to'> & { readonly isStored: boolean }) {
  const hasOutbox = useConsole().data?.hasOutbox;
  const path = `/api/notify/emails/${encodeURIComponent(id)}`;
  const { data, error, refetch } = useRead<Email>(path, {}, { refetchInterval: 10_000 });
  const change = useDeed(
    async (action: 'cancel' | 'retry') => {
      await send(`${path}/${action}`, { method: 'POST' });
      return action === 'retry' ? 'The email is being sent again.' : 'The email was canceled.';
    },
    ['notify', 'emails'],
  );
  if (data === undefined) return <Pending error={error} retry={refetch} />;
  return (
    <div className="inset">
      <Recipients of={to} outcomeOf={(address) => outcomeFor(data, address)} />
      {adviceFor(data) !== undefined && <p>{adviceFor(data)}</p>}
      {canRetry(data) && data.accepted.length > 0 && <p>{texts.othersOnly}</p>}
      {data.status !== 'sent' && data.suppressed.length > 0 && (
        <p>
          Suppressed, so no attempt reaches {data.suppressed.join(', ')}.{' '}
          <Link href="/operator/mail?tab=suppressed">Lift the suppression</Link> first.
        </p>
      )}
      {data.events.length === 0 ? (
        <p className="quiet">This email has no events yet.</p>
      ) : (
        <ol aria-label="Events of the email">
          {attemptsOf(data.events).map(({ type, created_at, reason, count }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: events have no id, and are only added at the end
            <li key={index}>
              <span className="strong">
                {type === 'sent' && isStored ? 'Stored in the outbox' : texts.events[type]}
                {count > 1 && `, ${countOf(count)} times`}
              </span>{' '}
              <span className="quiet">
                {count > 1 && 'last '}
                {momentOf(created_at)}
              </span>
              {reason !== null && <p className="quiet wrapped">{reason}</p>}
            </li>
          ))}
        </ol>
      )}
      {(canRetry(data) || data.status === 'scheduled') && (
        <Changes>
          <div className="row start">
            {canRetry(data) && (
              <button type="button" disabled={change.isPending} onClick={() => change.mutate('retry')}>
                {data.status === 'failed' ? 'Send again' : 'Send now'}
              </button>
            )}
            {data.status === 'scheduled' && (
              <Confirm
                label="Cancel this email"
                question="The email will not be sent. Continue?"
                onConfirm={() => change.mutateAsync('cancel')}
              />
            )}
          </div>
        </Changes>
      )}
      <Problem of={change.error} />
      {isStored && (
        <p className="quiet">
          No mail server was configured, so this email was not sent.{' '}
          {hasOutbox && <Link href={`/operator/mail?tab=outbox&mail=${id}.eml`}>Show it in the outbox</Link>}
        </p>
      )}
      {!isStored && <SentText email={data} path={path} />}
    </div>
  );
}

function SentText({ email: { from, html, text, subject }, path }: { readonly email: Email; readonly path: string }) {
  if (html === null && text === null)
    return (
      <p className="quiet">
        The text is deleted when an email is sent or canceled, or within a day after it was due, so that no private
        words stay here. Its subject, recipients and events are stored for 30 days. “Previews” shows the text of each
        type of notification.
      </p>
    );
  return (
    <article className="card mail" aria-label={`Text of ${subject}`}>
      <p className="quiet">
        {from !== null && `From ${from}. `}The text is stored until the email is sent, and at most for a day after it
        was due.
      </p>
      {html === null ? (
        <pre className="wrapped">{text}</pre>
      ) : (
        <iframe title={`Email: ${subject}`} sandbox="" src={`${path}/html`} />
      )}
    </article>
  );
}

function Outbox() {
  const { of, change } = useFilters();
  const { data, error, refetch } = useRead<MailList>('/api/mails', {}, { refetchInterval: 5000 });
  const opened = of('mail') || data?.mails[0]?.name;
  return (
    <>
      <p className="quiet">
        This installation stores emails as files in <code>outbox</code>, in its data folder. No email leaves this
        machine.
      </p>
      {data === undefined ? (
        <Pending error={error} retry={refetch} what="Reading the outbox" />
      ) : data.mails.length === 0 ? (
        <Empty title="The outbox is empty.">
          <p>
            <code>npm run demo</code> sends a notification.
          </p>
        </Empty>
      ) : (
        <div className="mails">
          <ul className="lines" aria-label="Emails">
            {data.mails.map(({ name, subject, to, sentAt }) => (
              <li key={name}>
                <button
                  type="button"
                  className="entry"
                  aria-pressed={name === opened}
                  onClick={() => change({ mail: name })}
                >
                  <span className="strong">{subject}</span>
                  <span className="quiet facts">
                    <span>{to.join(', ')}</span>
                    <When at={sentAt} />
                  </span>
                </button>
              </li>
            ))}
            {data.total > data.mails.length && (
              <li className="quiet">{countOf(data.total - data.mails.length)} older emails are not listed.</li>
            )}
          </ul>
          {opened && <Opened key={opened} name={opened} />}
        </div>
      )}
    </>
  );
}

function Opened({ name }: { readonly name: string }) {
  const { data, error, refetch } = useRead<OutboxMail>(`/api/mails/${encodeURIComponent(name)}`);
  if (data === undefined) return <Pending error={error} retry={refetch} />;
  const page = data.hasHtml ? `/api/mails/${encodeURIComponent(name)}/html` : undefined;
  return (
    <Rendered of={data} label={data.subject} page={page}>
      <p className="quiet">
        From {data.from} to {data.to.join(', ')}
        {data.attachments.length > 0 && `, attached: ${data.attachments.join(', ')}`}
      </p>
    </Rendered>
  );
}
