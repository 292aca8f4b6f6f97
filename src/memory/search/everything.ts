/** Recognizes questions about all memories, such as "What do you know about me?". */
import { plain } from '../text/words.ts';

/** A longer message contains another question too. */
const mostCharacters = 120;

const phrases = [
  'what do you know about me',
  'what do you know of me',
  'what do you remember',
  'what have you remembered',
  'what have you saved about me',
  'everything you know about me',
  'everything you remember',
  'tell me about myself',
  'what you know about me',
  'was weißt du über mich',
  'was wissen sie über mich',
  'was hast du dir gemerkt',
  'alles was du über mich weißt',
  'qué sabes de mí',
  'qué sabes sobre mí',
  'qué recuerdas de mí',
  'todo lo que sabes de mí',
  'que sais tu de moi',
  'que sais tu sur moi',
  'qu est ce que tu sais de moi',
  'qu est ce que tu sais sur moi',
  'tout ce que tu sais de moi',
  'cosa sai di me',
  'che cosa sai di me',
  'cosa ricordi di me',
  'tutto quello che sai di me',
  'o que você sabe sobre mim',
  'o que sabes sobre mim',
  'o que você lembra de mim',
  'tudo o que você sabe sobre mim',
  'apa yang awak tahu tentang saya',
  'apa yang anda tahu tentang saya',
  'apa yang kamu tahu tentang saya',
  'что ты знаешь обо мне',
  'что вы знаете обо мне',
  'что ты помнишь обо мне',
  'всё что ты знаешь обо мне',
  'wat weet je over mij',
  'wat weet je van mij',
  'vad vet du om mig',
  'co o mnie wiesz',
  'co wiesz o mnie',
  'benim hakkımda ne biliyorsun',
  'hakkımda ne biliyorsun',
  'bạn biết gì về tôi',
  'ماذا تعرف عني',
  'מה אתה יודע עליי',
  'מה אתה יודע עלי',
  'तुम मेरे बारे में क्या जानते हो',
  'आप मेरे बारे में क्या जानते हैं',
  '저에 대해 무엇을 알고',
  '나에 대해 뭘 알아',
  '저에 대해 뭘 알고',
  '나에 대해 아는',
  '你知道我什么',
  '你知道我的什么',
  '你对我了解多少',
  '你了解我多少',
  '关于我你知道什么',
  '關於我你知道什麼',
  '你記得我什麼',
  '你记得我什么',
  '私について何を知って',
  '私のことを何か知って',
  '私のこと何を知って',
  'คุณรู้อะไรเกี่ยวกับฉัน',
];
/** Prepared on first use, because a start does not need them. */
let plainPhrases: readonly string[] | undefined;

export function requestsEverything(query: string): boolean {
  if (query.length > mostCharacters) return false;
  const text = plain(query);
  plainPhrases ??= phrases.map(plain);
  return plainPhrases.some((phrase) => text.includes(phrase));
}
