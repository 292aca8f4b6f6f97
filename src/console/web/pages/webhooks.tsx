import { keepPreviousData } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { webhookEventTypes } from '#webhooks/events.ts';
import type { Delivery, DeliveryList, EndpointState } from '../../api.ts';
import { send } from '../calls.ts';
import { Entry, OrderLink, RunLink } from '../operator/entry.tsx';
import { Id, PersonLink, SettingLink } from '../operator/names.tsx';
import { Actions, AllDead } from '../operator/queuejobs.tsx';
import { useConsole, useMayChange } from '../operator.tsx';
import { countUpTo, momentOf, plural, sinceThen, untilThen } from '../parts/figures.tsx';
import { ChoiceFilter, Choices, Listing, onePage, SearchFilter, useFilters } from '../parts/listing.tsx';
import { useRead } from '../parts/server.ts';
import { Empty, PageHead, Section, Status } from '../parts/states.tsx';
import { Pairs } from '../parts/tables.tsx';
import { CopyButton } from '../studio/copybutton.tsx';

const states = {
  failing: { tone: 'warn', word: 'failing' },
  dead: { tone: 'bad', word: 'dead' },
  waiting: { tone: 'busy', word: 'waiting' },
  done: { tone: 'good', word: 'delivered' },
} as const;
const filters = ['failing', 'dead', 'waiting', 'done'] as const;

export function Webhooks() {
  return (
    <div className="operator">
      <PageHead title="Webhooks">
        Your server receives events about runs, images, videos, files and accounts, and about emails and budgets that
        need attention. A failed delivery is retried for 24 hours, with increasing pauses. After that, it is dead.
      </PageHead>
      {useConsole().data?.hasWebhooks ? <Deliveries /> : <Unset />}
    </div>
  );
}

const Unset = () => (
  <Section title="No webhook URL is set" className="card stack">
    <ol className="steps">
      <li>
        Set <SettingLink name="WEBHOOK_URL" /> to a URL of your server that accepts <code>POST</code>.
      </li>
      <li>
        Set <SettingLink name="WEBHOOK_SECRET" /> to <code>whsec_</code> and the output of{' '}
        <code>openssl rand -base64 32</code>. It signs each request.
      </li>
      <li>
        Restart the services, then run <code>npm run webhook-test</code>, which sends an example.
      </li>
    </ol>
    <p className="quiet">
      <SettingLink name="WEBHOOK_EVENTS" /> chooses the events. By default, all are sent:{' '}
      <code>{webhookEventTypes.join(', ')}</code>
    </p>
  </Section>
);

function Deliveries() {
  const { of, change } = useFilters();
  const filter = filters.find((one) => one === of('status')) ?? '';
  const search = { status: filter, type: of('type'), q: of('q') };
  const often = { refetchInterval: 5000, placeholderData: keepPreviousData };
  const query = useRead<DeliveryList>('/api/webhooks', search, often);
  const { data } = query;
  const names = filters.map((one) => {
    const count = data === undefined ? '' : ` ${countUpTo(data.largestCount, data[one])}`;
    return [one, states[one].word.replace(/^./, (first) => first.toUpperCase()) + count] as const;
  });
  const noneAtAll = filter === '' ? 'No event has been published yet.' : `No delivery is ${states[filter].word}.`;
  const none = of('type') + of('q') === '' ? noneAtAll : 'No delivery matches.';
  return (
    <>
      {data && <Endpoint of={data} />}
      <Choices
        label="Deliveries"
        of={[['', 'All'] as const, ...names]}
        chosen={filter}
        choose={(status) => change({ status })}
      />
      <search className="desk-fields desk-filters">
        <SearchFilter label="Search" placeholder="Id, reason or body" />
        <ChoiceFilter
          name="type"
          label="Type"
          choices={[['', 'All'], ...(data?.types ?? []).map((type) => [type, type] as const)]}
        />
      </search>
      <Listing
        pages={onePage(query)}
        label="Deliveries"
        itemsOf={({ deliveries }) => deliveries}
        keyOf={({ id }) => id}
        empty={<Empty title={none} />}
      >
        {(delivery) => <Row delivery={delivery} usual={data?.reason ?? null} />}
      </Listing>
      {data?.deliveries.length === 100 && <p className="quiet">Only the newest 100 deliveries are listed.</p>}
    </>
  );
}

/** The counts are those of the filters below. */
function Endpoint({ of }: { readonly of: EndpointState }) {
  const { receiver, queue, failing, dead, largestCount, failingSince, reason, lastDoneAt } = of;
  const [tone, word] =
    failingSince !== null
      ? (['bad', `failing since ${momentOf(failingSince)}`] as const)
      : dead > 0
        ? (['bad', 'has dead deliveries'] as const)
        : lastDoneAt !== null
          ? (['good', 'delivers'] as const)
          : (['quiet', 'not used yet'] as const);
  return (
    <section className="card attention" aria-label="Endpoint">
      <div className="row">
        <h2 className="wrapped">{new URL(receiver).host}</h2>
        <Status tone={tone}>{word}</Status>
      </div>
      <p className="quiet facts">
        <span>{receiver}</span>
        <span>{lastDoneAt === null ? 'nothing delivered lately' : `last delivery ${sinceThen(lastDoneAt)}`}</span>
      </p>
      {failing + dead > 0 && reason !== null && <p className="problem">{reason}</p>}
      {failing + dead > 0 && (
        <AllDead
          queue={queue}
          noun={{ one: 'delivery', many: 'deliveries' }}
          count={countUpTo(largestCount, dead)}
          failing={failing}
          label="Send all again"
          report={(what) => `Sending ${what} again`}
        />
      )}
    </section>
  );
}

interface RowProps {
  readonly delivery: Delivery;
  /** The reason that the endpoint has above. Rows do not repeat it. */
  readonly usual: string | null;
}

function Row({ delivery, usual }: RowProps) {
  const { type, state, webhookId, attempts, createdAt, endedAt, lastAttemptAt, nextAttemptAt, reason, body } = delivery;
  const { tone, word } = states[state];
  const mayChange = useMayChange();
  return (
    <Entry
      title={type}
      status={<Status tone={tone}>{word}</Status>}
      at={createdAt}
      more={mayChange && state !== 'waiting' && <SendAgain delivery={delivery} />}
      facts={[
        ...subjectsOf(body),
        plural(attempts, 'attempt'),
        endedAt !== null && `${word} ${sinceThen(endedAt)}`,
        state === 'failing' && nextAttemptAt !== null && `next attempt ${untilThen(nextAttemptAt)}`,
      ]}
      problem={reason === usual ? null : reason}
    >
      <details>
        <summary>Id and body</summary>
        <Pairs
          of={{
            'Webhook id': <Id of={webhookId} name="webhook id" />,
            ...(lastAttemptAt !== null && { 'Last attempt': momentOf(lastAttemptAt) }),
            ...(reason !== null && { Reason: reason }),
            Body: <CopyButton label="Copy the body" read={() => body} />,
          }}
        />
        <pre className="wrapped">{JSON.stringify(JSON.parse(body), null, 2)}</pre>
      </details>
    </Entry>
  );
}

/** The person, the run and the order that the event is about. */
function subjectsOf(body: string): readonly ReactNode[] {
  const { type, data } = JSON.parse(body) as { readonly type: string; readonly data?: Record<string, unknown> };
  const { userId, ownerId, taskId, generationId, to, period, percent } = data ?? {};
  const person = userId ?? ownerId;
  return [
    typeof person === 'string' && <PersonLink key="person" id={person} />,
    typeof percent === 'number' && `${percent}% of the budget: ${period}`,
    Array.isArray(to) && to.join(', '),
    typeof taskId === 'string' && !type.startsWith('video_task.') && <RunLink key="run" id={taskId} />,
    typeof generationId === 'string' && <OrderLink key="order" id={generationId} />,
  ];
}

function SendAgain({ delivery: { id, fence, type } }: { readonly delivery: Delivery }) {
  const sendAgain = async () => {
    await send(`/api/jobs/${encodeURIComponent(id)}/retry`, { method: 'POST', json: { fence } });
    return `${type} is being sent again.`;
  };
  return <Actions retry={['Send again', `Send again: ${type}`]} act={sendAgain} />;
}
