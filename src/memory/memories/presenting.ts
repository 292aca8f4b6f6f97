/** A memory for callers. */
import type { FoundMemory, Memory, Profile } from '../api.ts';
import type { StoredProfile } from '../profiles/profilestore.ts';
import { plain } from '../text.ts';
import type { StoredMemory } from './memorystore.ts';

export function toMemory(row: StoredMemory): Memory {
  return {
    id: row.id,
    entity_id: row.entityId,
    entity_type: row.entityType,
    type: row.type,
    content: row.content,
    metadata: { ...row.metadata },
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    said_at: row.saidAt.toISOString(),
    invalid_at: row.invalidAt === null ? null : row.invalidAt.toISOString(),
    replaced_by: row.replacedBy,
    added_by: row.addedBy,
    thread_id: row.threadId,
  };
}

export function toFoundMemory(row: StoredMemory, found: Pick<FoundMemory, 'score' | 'fallback'>): FoundMemory {
  const { invalid_at: _, replaced_by: __, ...memory } = toMemory(row);
  const when = resolveDate(row.content, row.saidAt);
  return { ...memory, ...found, ...(when !== undefined && { when }) };
}

// Resolves relative dates, such as "next month", by the time of the statement.

type Unit = 'day' | 'week' | 'month' | 'year';

/** Phrases of the content languages, by unit and distance. The first one that a content has counts. */
const phrases: readonly (readonly [unit: Unit, distance: number, phrases: string])[] = [
  [
    'day',
    2,
    'day after tomorrow, übermorgen, pasado mañana, après demain, dopodomani, depois de amanhã, послезавтра, lusa, 后天, 後天, 明後日, 모레',
  ],
  [
    'day',
    -2,
    'day before yesterday, vorgestern, anteayer, avant hier, altroieri, anteontem, позавчера, 前天, 一昨日, 그저께',
  ],
  [
    'day',
    1,
    'tomorrow, morgen früh, morgen abend, mañana por la, demain, domani, amanhã, завтра, esok, besok, 明天, 明日, 내일',
  ],
  [
    'day',
    -1,
    'yesterday, last night, gestern, ayer, hier soir, ieri, ontem, вчера, semalam, kemarin, 昨天, 昨日, 어제',
  ],
  ['day', 0, 'today, tonight, heute, aujourd hui, oggi, hoje, сегодня, hari ini, 今天, 今日, 오늘'],
  [
    'week',
    1,
    'next week, nächste woche, próxima semana, semana que viene, semaine prochaine, prossima settimana, settimana prossima, semana que vem, следующей неделе, minggu depan, 下周, 下週, 来週, 다음 주',
  ],
  [
    'week',
    -1,
    'last week, letzte woche, semana pasada, semaine dernière, settimana scorsa, semana passada, прошлой неделе, minggu lepas, minggu lalu, 上周, 上週, 先週, 지난주',
  ],
  [
    'week',
    0,
    'this week, diese woche, esta semana, cette semaine, questa settimana, этой неделе, minggu ini, 这周, 本周, 今週, 이번 주',
  ],
  [
    'month',
    1,
    'next month, nächsten monat, próximo mes, mes que viene, mois prochain, prossimo mese, mese prossimo, próximo mês, mês que vem, следующем месяце, bulan depan, 下个月, 下個月, 来月, 다음 달',
  ],
  [
    'month',
    -1,
    'last month, letzten monat, mes pasado, mois dernier, mese scorso, mês passado, прошлом месяце, bulan lepas, bulan lalu, 上个月, 上個月, 先月, 지난달',
  ],
  [
    'month',
    0,
    'this month, diesen monat, este mes, ce mois ci, questo mese, este mês, этом месяце, bulan ini, 这个月, 這個月, 今月, 이번 달',
  ],
  [
    'year',
    1,
    'next year, nächstes jahr, próximo año, año que viene, année prochaine, an prochain, prossimo anno, anno prossimo, próximo ano, ano que vem, следующем году, tahun depan, 明年, 来年, 내년',
  ],
  [
    'year',
    -1,
    'last year, letztes jahr, año pasado, année dernière, an dernier, anno scorso, ano passado, прошлом году, tahun lepas, tahun lalu, 去年, 작년',
  ],
  ['year', 0, 'this year, dieses jahr, este año, cette année, quest anno, este ano, этом году, tahun ini, 今年, 올해'],
];
/** Prepared on first use, because a start does not need them. */
let prepared: readonly (readonly [Unit, number, readonly string[]])[] | undefined;

const dayMs = 24 * 3600 * 1000;
const iso = (time: number) => new Date(time).toISOString().slice(0, 10);

/** Returns a day, a month, a year, or the first and the last day of a week (in UTC), in ISO 8601. */
function resolveDate(content: string, saidAt: Date): string | undefined {
  prepared ??= phrases.map(([unit, distance, list]) => [unit, distance, list.split(', ').map(plain)] as const);
  const text = plain(content);
  const [unit, distance] = prepared.find(([, , list]) => list.some((phrase) => text.includes(phrase))) ?? [];
  if (unit === undefined || distance === undefined) return undefined;
  if (unit === 'day') return iso(saidAt.getTime() + distance * dayMs);
  if (unit === 'year') return String(saidAt.getUTCFullYear() + distance);
  if (unit === 'month') return iso(Date.UTC(saidAt.getUTCFullYear(), saidAt.getUTCMonth() + distance)).slice(0, 7);
  const monday = saidAt.getTime() - ((saidAt.getUTCDay() + 6) % 7) * dayMs + distance * 7 * dayMs;
  return `${iso(monday)}/${iso(monday + 6 * dayMs)}`;
}

// A profile for callers. Facts that operators wrote replace derived ones.

export function toProfile(row: StoredProfile): Profile {
  const derived = Object.entries(row.derived).map(([fact, { value }]) => [fact, value]);
  const facts: Record<string, string> = { ...Object.fromEntries(derived), ...row.facts };
  return {
    entity_id: row.entityId,
    entity_type: row.entityType,
    summary: row.summary,
    facts,
    evidence: Object.fromEntries(
      Object.entries(row.derived).flatMap(([fact, { evidence }]) => (fact in row.facts ? [] : [[fact, evidence]])),
    ),
    language: row.language ?? facts.language ?? null,
    updated_at: row.updatedAt.toISOString(),
  };
}
