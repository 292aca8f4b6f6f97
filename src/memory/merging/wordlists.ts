/**
 * Words of the 12 content languages that must not differ between two contents of one memory
 * (docs/specification/memory.md#adding): numbers, days, months and negations. The lists of all languages apply to every
 * text. A word of another language does no harm, because only differences count. See docs/memory.md.
 */

const words = (list: string) => list.trim().split(/\s+/);

/** Numbers the words of the list from `from`. Slashes separate alternatives. */
function counted(list: string, from = 0): readonly (readonly [string, string])[] {
  return words(list).flatMap((entry, index) => entry.split('/').map((word) => [word, String(from + index)] as const));
}

function tens(list: string): readonly (readonly [string, string])[] {
  return words(list).flatMap((entry, index) =>
    entry.split('/').map((word) => [word, String((index + 2) * 10)] as const),
  );
}

const valued = (value: string, list: string) => words(list).map((word) => [word, value] as const);

/** Omits articles that also mean "one", because writers do not mean a number. */
export const numberWords: ReadonlyMap<string, string> = new Map([
  ...counted(
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
  ),
  ...tens('twenty thirty forty/fourty fifty sixty seventy eighty ninety'),
  ...counted(
    'null eins zwei/zwo drei vier fünf/fuenf sechs sieben acht neun zehn elf zwölf/zwoelf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn',
  ),
  ...tens('zwanzig dreißig/dreissig vierzig fünfzig sechzig siebzig achtzig neunzig'),
  ...counted('cero', 0),
  ...counted(
    'dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve',
    2,
  ),
  ...tens('veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa'),
  ...counted('zéro', 0),
  ...counted('deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize', 2),
  ...tens('vingt trente quarante cinquante soixante soixante-dix quatre-vingts quatre-vingt-dix'),
  ...counted(
    'due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove',
    2,
  ),
  ...tens('venti trenta quaranta cinquanta sessanta settanta ottanta novanta'),
  ...counted(
    'dois/duas três/tres quatro cinco seis sete oito nove dez onze doze treze catorze/quatorze quinze dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove',
    2,
  ),
  ...tens('vinte trinta quarenta cinquenta sessenta setenta oitenta noventa'),
  ...counted('kosong/sifar satu dua tiga empat lima enam tujuh lapan/delapan sembilan sepuluh sebelas'),
  ...counted(
    'ноль/нуль один/одна/одно/одну/одного два/две/двух/двое три/трёх/трех/трое четыре/четырёх/четырех пять/пяти шесть/шести семь/семи восемь/восьми девять/девяти десять/десяти одиннадцать двенадцать',
  ),
  ...tens('двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто'),
  ...counted('영 하나/한 둘/두 셋/세 넷/네 다섯 여섯 일곱 여덟 아홉 열'),
  ...valued('100', 'hundred hundert ciento cien cent cento cem seratus сто ста'),
  ...valued('1000', 'thousand tausend mil mille mila seribu тысяча тысячи тысяч'),
  ...valued('1000000', 'million million millionen millón millones milioni milhão milhões juta миллион миллиона'),
  ...valued('x2', 'twice double both beide beiden deux-fois ambos ambas оба обе дважды'),
  ...valued('1/2', 'half halb halbe halber moitié demi mitad media metade metà mezzo mezza setengah половина'),
]);

/** Ordinals are read as days of a month, their most frequent meaning. */
const weekdays = [
  'monday mon montag lunes lundi lunedì lunedi segunda-feira isnin понедельник понедельникам 월요일',
  'tuesday tue tues dienstag martes mardi martedì martedi terça-feira selasa вторник вторникам 화요일',
  'wednesday wed mittwoch miércoles miercoles mercredi mercoledì mercoledi quarta-feira rabu среда среду средам 수요일',
  'thursday thu thurs donnerstag jueves jeudi giovedì giovedi quinta-feira khamis четверг четвергам 목요일',
  'friday fri freitag viernes vendredi venerdì venerdi sexta-feira jumaat пятница пятницу пятницам 금요일',
  'saturday sat samstag sonnabend sábado sabado samedi sabato sabtu суббота субботу субботам 토요일',
  'sunday sun sonntag domingo dimanche domenica ahad воскресенье воскресеньям 일요일',
];
const months = [
  'january jan januar enero janvier gennaio janeiro januari январь января',
  'february feb februar febrero février febbraio fevereiro februari февраль февраля',
  'march mar märz marzo mars março mac март марта',
  'april apr abril avril aprile апрель апреля',
  'may mai mayo maggio maio mei май мая',
  'june jun juni junio juin giugno junho июнь июня',
  'july jul juli julio juillet luglio julho julai июль июля',
  'august aug agosto août ogos август августа',
  'september sept sep septiembre septembre settembre setembro сентябрь сентября',
  'october oct oktober octubre octobre ottobre outubro октябрь октября',
  'november nov noviembre novembre novembro ноябрь ноября',
  'december dec dezember diciembre décembre dicembre dezembro disember декабрь декабря',
];
const relativeDays = [
  'today heute hoy aujourd oggi hoje hari-ini сегодня 오늘',
  'tomorrow morgen mañana demain domani amanhã esok завтра 내일',
  'yesterday gestern ayer hier ieri ontem semalam вчера 어제',
  'weekend weekends wochenende fin-de-semana выходные 주말',
];

function named(prefix: string, lists: readonly string[]): readonly (readonly [string, string])[] {
  return lists.flatMap((list, index) => words(list).map((word) => [word, `${prefix}${index + 1}`] as const));
}

export const dateWords: ReadonlyMap<string, string> = new Map([
  ...named('weekday', weekdays),
  ...named('month', months),
  ...named('day', relativeDays),
]);

/** Maps a word to the kind of its negation. Two contents must have the same number of each kind. */
export const negations: ReadonlyMap<string, string> = new Map([
  ...valued('not', 'not no nor neither cannot nicht kein keine keinen keinem keiner keines pas non não nao не нет ни'),
  ...valued(
    'not',
    'nem né tampoco neanche nemmeno aucun aucune ningún ninguna ninguno nessun nessuna nessuno nenhum nenhuma',
  ),
  ...valued('not', 'tidak tak bukan jangan belum tiada нельзя 안 못'),
  ...valued('never', 'never nie niemals nunca jamás jamais mai никогда 결코 절대'),
  ...valued('none', 'none nothing nobody nichts niemand rien personne nada nadie niente nulla ninguém ничего никто'),
  ...valued('without', 'without ohne sans sin senza sem tanpa без'),
]);

/** Negations in scripts without spaces. Words that only look like one are removed before. */
export const unspacedNegation =
  /ではありませんでした|ではありません|じゃありません|ではない|じゃない|ませんでした|ません|なかった|なくて|ない|絶対に|从不|從不|从来不|從來不|没有|沒有|不|没|沒|无|無|未|别|別|勿|非|ไม่/u;
export const noNegation = /非常に?|特别|特別|别人|別人|別の|未来|未來|不错|不錯|少なく(?!ない)|無料|无论|無論/u;
/** Korean expresses the negation in the verb. */
export const hangulNegation = /않|없|아니|지\s?마|^못/u;

export const unspacedDate =
  /(?:星期|周|週|礼拜|禮拜)[一二三四五六日天]|[月火水木金土日]曜日?|今天|明天|昨天|后天|後天|今日|明日|昨日|周末|週末|[一二三四五六七八九十]{1,2}月/u;
export const unspacedNumber = /[〇零一二三四五六七八九十百千万萬億亿两兩]+|半分|一半/u;
/** Words that contain the character of a number, but are none. */
export const noNumber = /一起|一些|一样|一樣|一直|一定|一般|一下|统一|統一|万一|一緒|一番|一応|十分/u;

/** All forms of "I", and words for the user, which mean the same. */
export const firstPerson: ReadonlySet<string> = new Set(
  words(
    `i me my mine myself ich mich mir mein meine meinen meinem meiner meines je j moi mon ma mes yo mi mis io mio mia miei mie
    eu mim meu minha meus minhas saya aku я меня мне мной мой моя моё мое мои мою моего моей моих 나 나는 나를 나의 내 내가 저 저는 제 제가`,
  ),
);
export const users: ReadonlySet<string> = new Set(
  words(
    'user users utilisateur utilisatrice usuario usuaria utente usuário usuária benutzer benutzerin nutzer pengguna пользователь 사용자 사용자는',
  ),
);
/** Maps all cases of a pronoun to one person. The order of the words, not their form, shows who does what to whom. */
export const persons: ReadonlyMap<string, string> = new Map([
  ...valued('<he>', 'he him his himself'),
  ...valued('<she>', 'she her hers herself'),
  ...valued('<we>', 'we us our ours'),
  ...valued('<they>', 'they them their theirs'),
  ...valued('<you>', 'you your yours yourself'),
]);
