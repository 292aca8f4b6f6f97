import '../account/account.css';
import '../library/library.css';
import { Download, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import type { UsageDays } from '#client/agent/api.ts';
import type { OwnAccount, OwnSessions, ScheduledDeletion } from '#client/auth/api.ts';
import type { MediaUsage, OwnDecisions } from '#client/media/api.ts';
import { Segments } from '../create/fields.tsx';
import { useAuthor } from '../library/shares.ts';
import { Confirm, TypedConfirm } from '../parts/confirm.tsx';
import { TextArea, TextField } from '../parts/fields.tsx';
import { countOf, planName, sizeOf, When } from '../parts/figures.tsx';
import { Button } from '../parts/iconbutton.tsx';
import { Listing, onePage } from '../parts/listing.tsx';
import { SaveForm } from '../parts/saveform.tsx';
import { useDeed } from '../parts/server.ts';
import { Loaded, Loading, PageHead, Pending, Problem, Section, Status } from '../parts/states.tsx';
import { Table } from '../parts/tables.tsx';
import { setTheme, themes, useTheme } from '../shell/browser.ts';
import { notify, notifyFailure } from '../shell/notices.ts';
import { saveFile } from '../shell/saving.ts';
import { useCredits } from '../studio/account.ts';
import { useOwn, useSignOut, useUser } from '../user.tsx';

const nameOf = (theme: string) => theme.slice(0, 1).toUpperCase() + theme.slice(1);

/** The account of the signed-in user. */
export function Account() {
  const { email } = useUser();
  const account = useOwn<OwnAccount>(['account'], 'auth', '/account', {
    refetchInterval: ({ state }) => (state.data?.export?.status === 'preparing' ? 2000 : false),
  });
  return (
    <div className="ownaccount">
      <PageHead title="Your account">{email}</PageHead>
      {account.data?.deletesAt && <Restoration deletesAt={account.data.deletesAt} />}
      <Decisions />
      <Usage />
      <Settings />
      <Sessions />
      <Loaded of={account} what="Reading your account">
        {({ export: state, deletesAt }) => (
          <>
            <Export state={state} />
            {deletesAt === null && <Deletion />}
          </>
        )}
      </Loaded>
    </div>
  );
}

type Days = UsageDays['days'];

const counted = { runs: 'Answers', images: 'Images', videos: 'Videos' } as const;
const names = Object.keys(counted) as readonly (keyof typeof counted)[];
const sumOf = (days: Days, name: keyof typeof counted | 'credits') => days.reduce((sum, day) => sum + day[name], 0);

function Usage() {
  const credits = useCredits();
  // Events announce changes of credits under the first part of this key.
  const usage = useOwn<UsageDays>(['credits', 'usage'], 'agent', '/usage');
  const storage = useOwn<MediaUsage>(['credits', 'storage'], 'media', '/v1/usage');
  if (usage.data === undefined || storage.data === undefined) {
    const { error, refetch } = usage.data ? storage : usage;
    return <Pending error={error} retry={refetch} what="Reading your usage" />;
  }
  const { days } = usage.data;
  const { bytes, reservedBytes, limitBytes } = storage.data;
  const left = credits?.credits ?? 0;
  const used = sumOf(days, 'credits');
  /** A name, a value, what it is of, and how much of that it is. */
  const figures = [
    ['Credits left', countOf(left), `${countOf(used)} used in 30 days`, left / Math.max(1, used + left)],
    limitBytes === 0
      ? (['Storage', sizeOf(bytes), 'No limit'] as const)
      : (['Storage', sizeOf(bytes), `of ${sizeOf(limitBytes)}`, (bytes + reservedBytes) / limitBytes] as const),
    ...names.map((name) => [counted[name], countOf(sumOf(days, name))] as const),
  ] as const;
  return (
    <Section title="Credits and usage">
      {credits && (
        <p className="quiet">Plan: {planName(credits.plan)}. Answers, images and videos count the last 30 days.</p>
      )}
      <div className="figures">
        {figures.map(([name, value, limit, part]) => (
          <div key={name} className="card">
            <p className="quiet">{name}</p>
            <p className="value">{value}</p>
            {part !== undefined && <meter aria-label={name} min={0} max={1} value={part} />}
            <p className="quiet">{limit}</p>
          </div>
        ))}
      </div>
      {days.length > 0 && (
        <Table
          label="Credits by day"
          head={['Day', ...names.map((name) => counted[name]), 'Credits']}
          rows={[...Map.groupBy(days, ({ day }) => day)].map(([day, of]) => ({
            key: day,
            cells: [dayOf(day), ...names.map((name) => countOf(sumOf(of, name))), countOf(sumOf(of, 'credits'))],
          }))}
        />
      )}
    </Section>
  );
}

const dayOf = (day: string) => new Date(`${day}T00:00`).toLocaleDateString(undefined, { dateStyle: 'medium' });
const languages = new Intl.DisplayNames(undefined, { type: 'language' });

/** Settings of this browser. */
function Settings() {
  const theme = useTheme();
  const [author, setAuthor] = useAuthor();
  return (
    <Section title="Settings">
      <Segments
        name="Theme"
        options={themes.map(({ value }) => value)}
        chosen={theme}
        onChoose={setTheme}
        textOf={nameOf}
      />
      <TextField
        label="Your name on what you share"
        maxLength={60}
        autoComplete="nickname"
        placeholder="Anonymous"
        value={author}
        onChange={setAuthor}
      />
      <p className="quiet">This browser keeps the theme and the name, also one that you enter when you share.</p>
      <p className="quiet">
        Language: {languages.of(navigator.language)}, as in your browser. Ideas, news and pages of shares follow it.
      </p>
    </Section>
  );
}

function Sessions() {
  const user = useUser();
  const signOut = useSignOut();
  const sessions = useOwn<OwnSessions>(['sessions'], 'auth', '/account/sessions');
  /** Without an id, all but this one. */
  const ending = useDeed(
    async (id?: string) => {
      await user.send('auth', `/account/sessions${id === undefined ? '' : `/${id}`}`, { method: 'DELETE' });
      return id === undefined ? 'The other sessions have ended.' : 'The session has ended.';
    },
    ['sessions'],
  );
  const end = (id?: string) => ending.mutateAsync(id).catch(notifyFailure);
  return (
    <Section title="Sessions">
      <p className="quiet">
        The browsers in which you are signed in. One that you end can still make changes for up to an hour.
      </p>
      <Listing
        pages={onePage(sessions)}
        label="Sessions"
        itemsOf={(all) => all.sessions}
        keyOf={({ id }) => id}
        empty={null}
      >
        {({ id, browser, isCurrent, createdAt, usedAt }) => (
          <div className="session">
            <div>
              <p>
                <span className="strong">{browser}</span> {isCurrent && <Status tone="good">This browser</Status>}
              </p>
              <p className="quiet">
                Signed in <When at={createdAt} />, last used <When at={usedAt} />
              </p>
            </div>
            {!isCurrent && (
              <Confirm label="End" question={`End the session of ${browser}?`} onConfirm={() => end(id)} />
            )}
          </div>
        )}
      </Listing>
      <div className="does">
        {sessions.data !== undefined && sessions.data.sessions.length > 1 && (
          <Confirm label="End all others" question="End all sessions but this one?" onConfirm={() => end()} />
        )}
        <button type="button" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
          {signOut.isPending ? 'Signing out …' : 'Sign out everywhere'}
        </button>
      </div>
    </Section>
  );
}

type Decided = OwnDecisions['decisions'][number];

const effects: Readonly<Record<Decided['decision'], string>> = {
  dismiss: 'It stays available.',
  restrict: 'Only you can see it.',
  remove: 'It was removed.',
};

/** Absent until operators have decided about content of the user. */
function Decisions() {
  const [appealed, setAppealed] = useState<string>();
  const { data } = useOwn<OwnDecisions>(['decisions'], 'media', '/v1/decisions');
  if (data === undefined || data.decisions.length === 0) return null;
  return (
    <Section title="Decisions about your content">
      <ul className="lines">
        {data.decisions.map((one) => (
          <li key={one.id} className="stack">
            <p>
              <span className="strong">{effects[one.decision]}</span>{' '}
              <span className="quiet">
                <When at={one.at} />
              </span>
            </p>
            <p className="statement">{one.statement}</p>
            <p className="does">
              {one.assetId !== null && one.decision !== 'remove' && (
                <Link className="button" href={`/library/${one.assetId}`}>
                  Open it
                </Link>
              )}
              {one.decision !== 'dismiss' && one.appealedAt === null && (
                <button type="button" onClick={() => setAppealed(one.id)}>
                  Appeal
                </button>
              )}
              {one.appealedAt !== null && (
                <span className="quiet">
                  {one.isAppealOpen ? 'You appealed. A person reviews it.' : 'This decision answers your appeal.'}
                </span>
              )}
            </p>
          </li>
        ))}
      </ul>
      {appealed !== undefined && <AppealDialog id={appealed} onClose={() => setAppealed(undefined)} />}
    </Section>
  );
}

function AppealDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const user = useUser();
  const [text, setText] = useState('');
  const appealing = useDeed(async () => {
    await user.send('media', `/v1/incidents/${id}/appeal`, { method: 'POST', json: { text: text.trim() } });
    return 'Your appeal is sent.';
  }, ['decisions']);
  return (
    <SaveForm
      title="Appeal the decision"
      of={appealing}
      submit={appealing.isPending ? 'Sending …' : 'Send the appeal'}
      isReady={text.trim() !== ''}
      onClose={onClose}
    >
      <p className="quiet">You can appeal once. A person reviews it.</p>
      <TextArea label="Why is the decision wrong?" rows={5} maxLength={2000} required value={text} onChange={setText} />
    </SaveForm>
  );
}

const dateOf = (at: string) => new Date(at).toLocaleDateString(undefined, { dateStyle: 'long' });

function Deletion() {
  const [isOpen, setOpen] = useState(false);
  const signOut = useSignOut();
  const user = useUser();
  const deletion = useDeed(async () => {
    const { deletesAt } = await user.json<ScheduledDeletion>('auth', '/account', { method: 'DELETE' });
    await signOut.mutateAsync();
    navigate('/');
    const text = `Your account will be deleted on ${dateOf(deletesAt)}. To keep it, sign in before.`;
    notify(text, { tone: 'bad', stays: true });
  });
  const confirmation = { title: 'Delete your account?', word: 'delete', label: 'Delete account', of: deletion };
  return (
    <Section title="Delete your account">
      <p className="quiet">
        Your conversations, media, memories and settings are deleted. We send you an email with the date. Until then,
        you can sign in and keep your account.
      </p>
      <Button Icon={Trash2} text="Delete account" className="danger" onClick={() => setOpen(true)} />
      {isOpen && (
        <TypedConfirm {...confirmation} onClose={() => setOpen(false)}>
          All sessions end now. Export your data first if you want to keep a copy.
        </TypedConfirm>
      )}
    </Section>
  );
}

function Restoration({ deletesAt }: { readonly deletesAt: string }) {
  const restoration = useAccountChange('POST', '/account/restore');
  return (
    <section className="card" role="status">
      <p className="strong">Your account will be deleted on {dateOf(deletesAt)}.</p>
      <div className="does">
        <button type="button" disabled={restoration.isPending} onClick={() => restoration.mutate()}>
          {restoration.isPending ? 'Restoring …' : 'Keep my account'}
        </button>
        <Problem of={restoration.error} />
      </div>
    </section>
  );
}

function Export({ state }: { readonly state: OwnAccount['export'] }) {
  const user = useUser();
  const order = useAccountChange('GET', '/account/export');
  const download = useDeed(async () => {
    const answer = await user.send('auth', '/account/export/zip');
    saveFile('export.zip', await answer.blob());
  });
  return (
    <Section title="Export your data">
      <p className="quiet">
        A ZIP file with your conversations, media, memories and settings. We send you an email when it is ready.
      </p>
      {state?.status === 'preparing' && <Loading what="Preparing your export" />}
      {state?.status === 'ready' && state.expiresAt !== null && <p>Ready until {dateOf(state.expiresAt)}.</p>}
      <div className="does">
        {state?.status === 'ready' && (
          <Button
            Icon={Download}
            text={download.isPending ? 'Downloading …' : 'Download'}
            {...{ className: 'primary', disabled: download.isPending, onClick: () => download.mutate() }}
          />
        )}
        {state === null && (
          <button type="button" disabled={order.isPending} onClick={() => order.mutate()}>
            {order.isPending ? 'Requesting …' : 'Request an export'}
          </button>
        )}
        <Problem of={order.error ?? download.error} />
      </div>
    </Section>
  );
}

/** A change of the account, after which its state is read again. */
function useAccountChange(method: 'GET' | 'POST', path: string) {
  const user = useUser();
  return useDeed(() => user.send('auth', path, { method }), ['account']);
}
