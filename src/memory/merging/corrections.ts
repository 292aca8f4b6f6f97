/**
 * Statements by which an older one does not hold any more: a move to another place, what the user no longer does, and what
 * they do now instead. Only whole statements of the user count, because a wrong correction would hide a fact.
 */
import { read } from './reading.ts';

const place = '(?<place>[^.,;!?。，！？\\d]{2,60}?)[.!。！]*$';
const begin = "^(?:i|the user)(?:['’]ve| have| has|['’]m| am| is)?(?: just| recently| now| finally)*";
const homes = [
  `${begin} (?:lives?|living) in ${place}`,
  `^ich (?:wohne|lebe) (?:jetzt |nun )?in ${place}`,
  `^(?:yo )?(?:ahora )?vivo (?:ahora )?en ${place}`,
  `^(?:j['’]habite|je vis) (?:maintenant )?à ${place}`,
  `^(?:io )?(?:ora )?(?:vivo|abito) (?:ora )?a ${place}`,
  `^(?:eu )?(?:agora )?(?:moro|vivo) (?:agora )?em ${place}`,
  `^(?:я )?(?:теперь |сейчас )?живу (?:теперь |сейчас )?в ${place}`,
  `^saya (?:kini |sekarang )?tinggal di ${place}`,
  `^我(?:现在|現在)?住在${place}`,
  `^(?:私は)?(?:今は?)?(?<place>[^、。は]{1,20}?)に住んでい(?:ます|る)[。！]*$`,
  `^(?:저는|나는) (?:지금 )?(?<place>\\S{1,20}?)에 (?:살아요|살고 있어요|삽니다|산다)[.!]*$`,
];
const moves = [
  `${begin} moved (?:from [^.,;]{2,40} )?to (?!(?:the|an?|my|our|his|her|their) )${place}`,
  `^ich bin (?:jetzt |gerade |vor kurzem )?(?:von [^.,;]{2,40} )?nach (?<place>[^.,;!?\\d]{2,60}?) (?:gezogen|umgezogen)[.!]*$`,
  `^(?:yo )?me (?:he mudado|mudé) a ${place}`,
  `^j['’]ai (?:déménagé|emménagé) à ${place}`,
  `^mi sono trasferit[oa] a ${place}`,
  `^(?:eu )?(?:me mudei|mudei-me) para ${place}`,
  `^(?:я )?переехала? в ${place}`,
  `^saya (?:telah |sudah |baru )?(?:ber)?pindah ke ${place}`,
  `^我(?:已经|已經|刚|剛)?搬到了?${place}`,
  `^(?:私は)?(?<place>[^、。は]{1,20}?)に引っ越し(?:ました|た)[。！]*$`,
  `^(?:저는|나는) (?<place>\\S{1,20}?)(?:으로|로) 이사(?:했어요|했습니다|했다)[.!]*$`,
];
const compile = (patterns: readonly string[]) => patterns.map((pattern) => new RegExp(pattern, 'iu'));
const [homePatterns, movePatterns] = [compile(homes), compile(moves)];
/** A stay or a move in the past, or one that is planned. */
const otherTimes =
  /\b(?:ago|when|once|as a child|until|for a|vor|als|hace|cuando|il y a|quand|quando|fa|há|lalu|masa)\b|назад|когда|时候|時候|前に|때/iu;
const now = /\b(?:now|jetzt|nun|ahora|maintenant|ora|agora|kini|sekarang)\b|теперь|сейчас|现在|現在|今は|지금/iu;
const ceasing =
  /\b(?:no longer|not anymore|any ?more|not any longer|nicht mehr|kein(?:e|en)? .{0,40}mehr|ya no|já não|não .{0,40} mais|tidak lagi|bukan lagi)\b|\bne .{0,40}plus\b|\bn['’].{0,40}plus\b|\bnon .{0,40}più(?!\p{L})|больше не|不再|もう.*(?:ない|ません)|더 이상/iu;

/** "Instead of coffee". */
const instead = [
  'instead of (?<former>[^.,;!?]+)',
  '(?:an)?statt (?<former>[^.,;!?]+)',
  'en (?:lugar|vez) del? (?<former>[^.,;!?]+)',
  "(?:au lieu|à la place) (?:de |du |des |d['’])(?<former>[^.,;!?]+)",
  "invece (?:di |del |della |dell['’])(?<former>[^.,;!?]+)",
  '(?:em vez|no lugar|em lugar|ao invés) d[eoa] (?<former>[^.,;!?]+)',
  'вместо (?<former>[^.,;!?]+)',
  '(?:bukannya|bukan lagi|menggantikan) (?<former>[^.,;!?]+)',
  '(?:而不是|代替)(?<former>[^。，！]+)',
  '(?<former>[^、。は\\s]{1,40})の(?:代わり|かわり)に',
  '(?<former>\\S{1,40}) 대신(?:에)?',
].map((pattern) => new RegExp(`(?<![\\p{Script=Latin}\\p{Script=Cyrillic}])${pattern}`, 'iu'));

function placeIn(patterns: readonly RegExp[], content: string): string | undefined {
  if (otherTimes.test(content)) return undefined;
  const found = patterns.map((pattern) => pattern.exec(content)?.groups?.place).find((one) => one !== undefined);
  return found?.replace(now, '').trim().toLowerCase();
}

/** Whether a content can correct others, which are then compared even if they are not similar. */
export function isCorrection(content: string): boolean {
  return ceasing.test(content) || newHome(content) !== undefined || exchangeIn(content) !== undefined;
}

function newHome(content: string): string | undefined {
  return placeIn(movePatterns, content) ?? (now.test(content) ? placeIn(homePatterns, content) : undefined);
}

/** What "I now drink tea instead of coffee" states, without "instead of coffee", and the coffee. */
function exchangeIn(content: string): { readonly rest: string; readonly former: string } | undefined {
  if (!now.test(content)) return undefined;
  const found = instead.map((pattern) => pattern.exec(content)).find((one) => one !== null);
  const former = found?.groups?.former;
  return former === undefined ? undefined : { rest: content.replace(found?.[0] ?? '', ' ').replace(now, ' '), former };
}

const bare = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[.!。！]{1,3}$/, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/gu, '')
    .trim();

/** Whether the newer content is the older one with something else in place of what is given up. */
function isExchanged(content: string, older: string): boolean {
  const exchange = exchangeIn(content);
  if (exchange === undefined || read(older).some(({ kind }) => kind === 'negation')) return false;
  const [rest, former, before] = [exchange.rest, exchange.former, older].map(bare);
  const [begin, end, ...others] = before?.split(former ?? '') ?? [];
  if (begin === undefined || end === undefined || others.length > 0 || begin + end === '') return false;
  return rest?.startsWith(begin) === true && rest.endsWith(end) && rest.length > begin.length + end.length;
}

/** `isNegation`: apart from a negation, both say the same. */
export function corrects(content: string, older: string, isNegation: boolean): boolean {
  if (isExchanged(content, older)) return true;
  if (isNegation) return ceasing.test(content) && !ceasing.test(older);
  const home = newHome(content);
  const former = placeIn(homePatterns, older) ?? placeIn(movePatterns, older);
  return home !== undefined && former !== undefined && home !== former;
}
