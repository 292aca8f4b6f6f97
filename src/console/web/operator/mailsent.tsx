import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import type { Email, EmailList } from '../../../client/notify/api.ts';
import { callJson, send } from '../calls.ts';
import { Confirm } from '../parts/confirm.tsx';
import { momentOf, When } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, Pending, Problem, Status } from '../parts/states.tsx';

const tones = {
  scheduled: 'busy',
  sent: 'quiet',
  delivered: 'good',
  bounced: 'bad',
  complained: 'bad',
  failed: 'bad',
  canceled: 'quiet',
} as const;

export function SentMails() {
  const [opened, setOpened] = useState<string>();
  const [typed, setTyped] = useState('');
  const q = useDeferredValue(typed.trim());
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['sent mails', q],
    queryFn: ({ pageParam }) =>
      callJson<EmailList>(
        `/api/notify/emails?${new URLSearchParams({ ...(q !== '' && { q }), ...(pageParam !== '' && { after: pageParam }) })}`,
      ),
    initialPageParam: '',
    getNextPageParam: ({ data: mails, has_more }) => (has_more ? mails.at(-1)?.id : undefined),
    placeholderData: (previous) => previous,
  });
  if (data === undefined) return <Pending error={error} retry={refetch} what="Reading the emails" />;
  const mails = data.pages.flatMap((page) => page.data);
  if (mails.length === 0 && q === '')
    return (
      <Empty title="No email was sent in the last 30 days.">
        <p>Services and your own servers send email through the notification service.</p>
      </Empty>
    );
  return (
    <>
      <label className="field">
        Search
        <input
          type="search"
          placeholder="Subject or recipient"
          maxLength={320}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </label>
      {mails.length === 0 && <Empty title="No email matches." />}
      <ul className="lines" aria-label="Emails">
        {mails.map(({ id, to, subject, status, created_at, scheduled_at, reason }) => (
          <li key={id}>
            <button
              type="button"
              className="entry"
              aria-expanded={id === opened}
              onClick={() => setOpened(id === opened ? undefined : id)}
            >
              <span className="row">
                <span className="strong">{subject === '' ? '(no subject)' : subject}</span>
                <Status tone={tones[status]}>{status}</Status>
              </span>
              <span className="quiet">
                {to.join(', ')} · <When at={created_at} />
                {status === 'scheduled' && scheduled_at !== null && `, to be sent ${momentOf(scheduled_at)}`}
              </span>
              {reason !== null && <span className="problem">{reason}</span>}
            </button>
            {id === opened && <Events id={id} />}
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <p>
          <button type="button" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Show older emails
          </button>
        </p>
      )}
    </>
  );
}

function Events({ id }: { readonly id: string }) {
  const queries = useQueryClient();
  const path = `/api/notify/emails/${encodeURIComponent(id)}`;
  const { data, error, refetch } = useRead<Email>(['sent mail', id], path);
  const canceling = useMutation({
    mutationFn: () => send(`${path}/cancel`, { method: 'POST' }),
    onSettled: () =>
      Promise.all(['sent mails', 'sent mail'].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });
  if (data === undefined) return <Pending error={error} retry={refetch} />;
  return (
    <div className="inset">
      {data.events.length === 0 ? (
        <p className="quiet">This email has no events yet.</p>
      ) : (
        <ol aria-label="Events of the email">
          {data.events.map(({ type, created_at, reason }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: events have no id, and are only added at the end
            <li key={index}>
              <span className="strong">{type.replaceAll('_', ' ')}</span>{' '}
              <span className="quiet">{momentOf(created_at)}</span>
              {reason !== null && <p className="quiet">{reason}</p>}
            </li>
          ))}
        </ol>
      )}
      {data.status === 'scheduled' && (
        <Confirm
          label="Cancel this email"
          question="The email will not be sent. Continue?"
          onConfirm={() => canceling.mutateAsync().catch(() => undefined)}
        />
      )}
      <Problem of={canceling.error} />
    </div>
  );
}
