/**
 * Reads a name, a language or a time zone from a statement of the user about themselves, in the content languages. A
 * whole clause must match, so that what is negated, reported or about another person states nothing. In doubt, nothing is read.
 */

export interface Statement {
  readonly fact: 'display_name' | 'language' | 'timezone';
  readonly value: string;
}

/** In the sentence of a condition, a report or a supposition, no clause is a statement. */
const vetoes = [
  /\b(?:if|when|whenever|unless|until|while|once|(?<!nobody |no one )says?|said|tells?|told|asks?|asked|writes|wrote|sings?|sang|quotes?|pretend|imagine|suppose|wenn|falls|sobald|solange|sag(?:t|te|ten)|meint|meinte|fragt|fragte|schrieb|cuando|dice|dijo|dicen|quand|lorsque|dit|disait|demande|quando|disse|diz|perguntou|jika|kalau|apabila|bila|kata|berkata|als|wanneer|zegt|zei|zeggen|vroeg|gdy|gdyby|kiedy|pyta|eğer|dedi|diyor|derler)\b/iu,
  /(?<!\p{L})(?:jeśli|jeżeli|mówi|mówią|powiedziała?|söyledi|\p{L}{2,}(?:rsa|rse|ırsam|irsem)m?)(?!\p{L})/iu,
  /(?:^|[ ,])(?:si|se|s'il(?! (?:te|vous) plaît)) /iu,
  /(?<!\p{L})(?:если|когда|пока|говорит|говорят|сказала?|спросила?|пишет)(?!\p{L})/iu,
  /如果|要是|假如|时候|時候|[说說](?:过|過|[:：「“"])|问我|問我|もし|たら|とき|時は|場合|なら|と言った|と言って|と聞|면 |때 |라고 (?:했|말했)/u,
];

/** In a sentence about another person, the verb of a later clause is theirs: "My clients call me and answer in English". */
const otherSubject =
  /^(?:my (?!(?:\w+ )?name\b|(?:\w+ )?language\b|time ?zone\b)|(?:our|his|her|their|the(?! user)|they|she|he|we|some|many|most|people)\b|meine? (?!name|(?:\S+ )?sprache|zeitzone)|(?:unsere?|der|die|das|er|wir|viele|alle) |mis? (?!nombre|idioma|zona|chiamo)|(?:nuestr\S+|sus?|el|los|las|él|ella|ellos) |m(?:on|a|es) (?!(?:pré)?nom |langue|fuseau)|(?:nos|notre|son|sa|ses|le|la|les|ils?|elles?) (?!mi[oa] )|(?:il |i |le )?mi(?:o|a|ei|e) (?!nome|lingua|fuso)|(?:lui|lei|loro) |(?:o |a )?(?:meus?|minhas?) (?!nome|idioma|língua|fuso)|(?:nosso|nossa|eles?|elas?|os|as) |мо[йяеиё] (?!имя|язык|часовой)|(?:наши?|она?|они|мы) |(?!nama|bahasa|zon|panggil|jawab|balas|tulis|cakap)\p{L}+ saya |(?:dia|mereka|kami) )/iu;

/** The reason of a statement does not change it: "My time zone is UTC, that's why I'm up when you say good night". */
const reasons =
  /[,;，、] ?(?:because|since|that['’]s why|weil|denn|da ich|deshalb|porque|así que|que (?:tengo|estoy|necesito)|parce que|car|c['’]est|perché|così|pois|потому что|так как|kerana|want|omdat|bo|ponieważ|çünkü|因为|因為)(?!\p{L}).*$|(?<=です|ます|ください)。?(?=[^。]*(?:から|ので)$).*$/iu;

/** "…, okay?" requests agreement to a statement. */
const questionTag = /[,，、] ?[^,，、?？]{1,12}[?？] ?$/u;

/** How long or how much a statement holds, anywhere in a clause. */
const adverbs =
  /(?<![\p{L}'’])(?:from now on|from here on|going forward|from today(?: on)?|ab jetzt|ab sofort|ab heute|von nun an|künftig|in zukunft|jetzt|übrigens|de ahora en adelante|a partir de ahora|desde ahora|desde hoy|désormais|dorénavant|à partir de maintenant|d['’]ora in poi|da ora in poi|d['’]ora in avanti|da adesso in (?:poi|avanti)|daqui (?:pra|para a) frente|de agora em diante|a partir de agora|с этого дня|с этого момента|с сегодняшнего дня|отныне|впредь|дальше|просто|теперь|mulai sekarang|vanaf nu|voortaan|maar|altijd|od teraz|odtąd|zawsze|artık|bundan sonra|bundan böyle|hep|lütfen)(?![\p{L}'’]),? ?|^(?:从现在起|從現在起|从今以后|从今天起|從今天起)[，,]?/giu;

/** Separates clauses. Within a name, none of these occurs. */
const clauseBorders =
  / ?[,;，、；] ?| [–—-] | (?:and|but|und|aber|sondern|y|e|pero|et|mais|ma|mas|però|dan|tetapi|tapi|и|но|а) /iu;
const sentenceBorders = /(?<=[.!?。！？]) ?(?=\S)|\n/u;
const leadIns =
  /^(?:(?:hi|hello|hey|also|please|so|well|by the way|from now on|remember|note|hallo|bitte|übrigens|ab jetzt|hola|por favor|bonjour|salut|s['’]il (?:te|vous) plaît|au fait|ciao|buongiorno|per favore|olá|oi|привет|здравствуйте|пожалуйста|hai|sila|tolong|oye|ok|okay|again|oi|ola|hoi|hallo|dag|cześć|hej|witam|dzień dobry|proszę|selam|merhaba|alsjeblieft|graag|你好|您好|请|請|こんにちは|はじめまして|안녕하세요)(?![\p{Script=Latin}\p{Script=Cyrillic}])[\s,!:：，、]*)+/iu;
/** What may follow a statement. */
const closings =
  " please| thanks| thank you| from now on| bitte| danke| por favor| gracias| s'il te plaît| s'il vous plaît| merci| per favore| grazie| obrigado| obrigada| пожалуйста| спасибо| porfa| ok| alsjeblieft| graag| proszę| lütfen| ya|谢谢|謝謝|吧|就好|就行|就可以了|就可以|好了|吧| |.|!|。|！|～|~|,".split(
    '|',
  );

function withoutClosings(clause: string): string {
  const lower = clause.toLowerCase();
  let end = clause.length;
  for (;;) {
    const closing = closings.find((one) => lower.endsWith(one, end));
    if (closing === undefined || end === 0) return clause.slice(0, end);
    end -= closing.length;
  }
}

/** What begins a clause that ends with the name. */
const latinNames = [
  "(?:my|the user['’]s|user['’]s) (?:first |full |real )?name(?: is|['’]s)",
  "i(?: am|['’]m) called|i go by|(?:you can |just )?call me|everyone(?: at work| here)? calls me",
  'ich hei(?:ß|ss)e|mein name ist|(?:du kannst mich|nennen sie mich|nenn(?:e)? mich)',
  'me llamo|mi nombre es|(?:puedes )?ll(?:á|a)mame|puedes llamarme',
  "je m['’]appelle|mon (?:pré)?nom est|appel(?:le|les|ez)-moi|moi,? c['’]est|tu peux m['’]appeler|vous pouvez m['’]appeler",
  'mi chiamo|il mio nome è|chiamami|puoi chiamarmi',
  '(?:eu )?(?:me chamo|chamo-me)|(?:o )?meu nome é|(?:pode me chamar|me chame|chame-me|podes chamar-me)(?: de)?',
  'меня зовут|мо(?:е|ё) имя(?: —| -)?|(?:зови|зовите|называй|называйте) меня',
  'nama saya(?: ialah| adalah)?|panggil saya|panggil sahaja saya',
  'ik heet|mijn naam is|(?:noem me|je (?:mag|kunt|kan) me)',
  'mam na imię|nazywam się|mów mi|moje imię to',
  '(?:benim )?adım|(?:benim )?ismim',
];
const name =
  "(?<value>[\"«„“'‘]?\\p{Lu}[\\p{L}\\p{M}.'’-]*(?: (?:(?:de|del|de la|da|dos|di|van|van der|von|bin|binti|al|la|le) )?\\p{Lu}[\\p{L}\\p{M}.'’-]*){0,3}[\"»“”'’]?)";
const rigid = (patterns: readonly string[]) => patterns.map((pattern) => new RegExp(`^(?:${pattern})$`, 'u'));
const insensitive = (text: string) =>
  text.replace(/\p{L}/gu, (letter) =>
    letter.toLowerCase() === letter.toUpperCase() ? letter : `[${letter.toLowerCase()}${letter.toUpperCase()}]`,
  );
const namePatterns = rigid([
  `${insensitive('bana')} ${name} ${insensitive('d')}[ei](?:yebilirsin(?:iz)?|yin|r misin)?`,
  ...latinNames.map((begin) => `(?:${insensitive(begin)})\\s+${name}(?: nennen| noemen)?`),
  '(?:我叫|我的名字(?:是|叫)|我名叫|我的全名是|(?:你)?(?:可以)?叫我)(?<value>[^\\s，。,.!！、不没沒了在的很是他她它去来回过過起得人]{1,8})',
  '(?:私|わたし|僕|ぼく|俺)の名前は(?<value>[^\\s、。,.!！]{1,12}?)(?:です|だ|といいます|と言います)?',
  '(?:私|わたし|僕|ぼく|俺)は(?<value>[^\\s、。,.!！]{1,12}?)(?:と申します|といいます|と言います)',
  '(?<value>[^\\s、。,.!！はがを]{1,12}?)(?:って|と)呼んで(?:ください|下さい|ね)?',
  '(?:제|내|저의|나의) 이름은 (?<value>\\S{1,12}?)(?:입니다|이에요|예요|이야|야|이다)?',
  '(?:저는|나는|전|난) (?<value>\\S{1,12}?)(?:이?라고 (?:합니다|해요|해))',
  '(?:저를|나를|절|날)? ?(?<value>\\S{1,12}?)(?:이?라고|으로|로) 불러(?: ?주세요| ?줘)?',
]);
/** Words with a capital that follow "call me" and are no names. */
const noNames =
  /^(?:back|later|maybe|tomorrow|today|tonight|asap|when|if|on|at|in|the|a|an|not|mon|tues|wednes|thurs|fri|satur|sun)(?:day)?s?$/iu;
const noNamesUnspaced =
  /^(?:什么|甚么|怎么|怎麼|如何|名字|起床|一声|出|ない|なんて|何|誰)|(?:ない|ません|아닙니다|아니에요)$|名前|가$/u;

/** The names of languages in each of the content languages, in the order of the codes. */
const codes = ['en', 'de', 'es', 'fr', 'it', 'pt', 'ru', 'ms', 'ja', 'ko', 'zh_CN', 'zh_TW'] as const;
const languageNames: readonly (readonly [begin: string, names: string, end?: string])[] = [
  [
    "(?:always |only |just |please )*(?:reply|answer|respond|write|talk|speak)(?: back)?(?: to me| me)?(?: always| only)* in|(?:my|the user['’]s|user['’]s)(?: preferred)? language is|(?:i|the user)(?: would|['’]d)? (?:prefers?|like|wants?)(?: to get| your| the| all)*(?: answers| replies| responses| you to (?:reply|answer|respond|write)) in|(?:my )?preferred language:|(?:speak|talk)(?=.* (?:with|to) me$)|(?:i['’]d|i would) (?:rather|prefer) you (?:talked|spoke|wrote|answered|replied)(?: to me)? in|let['’]s (?:talk|speak|chat|write|stick) (?:in|to)|(?=\\S+ only$)",
    'english, german, spanish, french, italian, portuguese, russian, malay, japanese, korean, (?:simplified )?chinese|mandarin, traditional chinese',
    '(?: (?:with|to) me| only)?',
  ],
  [
    '(?:immer )?(?:antworte|bitte antworten|antworten bitte|antworten sie|schreib|schreibe|sprich|rede)(?: mir| mit mir| bitte| immer| nur| stets)* (?:auf|in)|meine (?:bevorzugte )?sprache ist|ich (?:möchte|bevorzuge|will|hätte gern) (?:deine |die |alle )?antworten (?:immer |nur |bitte )*auf|(?:sprich|rede)(?: bitte| immer| nur| mit mir)*|(?:lass uns|wir reden|schreib) (?:bitte )?auf',
    'englisch, deutsch, spanisch, französisch, italienisch, portugiesisch, russisch, malaiisch, japanisch, koreanisch, chinesisch, traditionellem chinesisch',
    '(?: mit mir)?',
  ],
  [
    '(?:siempre )?(?:responde|respóndeme|respondeme|responda|contesta|contéstame|conteste|escríbeme|háblame|hablemos|escribe|escríbame|hábleme)(?: siempre| solo| sólo| por favor)* en|mi idioma (?:preferido )?es(?: el)?|(?:quiero|prefiero|quisiera)(?: recibir)? (?:todas )?(?:las |tus )?respuestas en|(?:prefiero|quiero|quisiera|me gustaría) que (?:me (?:respondas|contestes|hables|escribas)|hables conmigo) en|habla(?=.* conmigo$)',
    'inglés, alemán, español, francés, italiano, portugués, ruso, malayo, japonés, coreano, chino, chino tradicional',
    '(?: conmigo)?',
  ],
  [
    "(?:réponds|répondez|écris|écrivez|parle|parlez|parlons)(?:-moi)?(?: toujours| uniquement| seulement)* en|ma langue (?:préférée )?est(?: le| l['’])?|je (?:préfère|veux|voudrais|souhaite)(?: recevoir)? (?:toutes )?(?:tes|les|vos|des) réponses en|(?:je (?:préfère|veux|voudrais) que (?:tu me (?:répondes|parles|écrives)|vous me (?:répondiez|parliez|écriviez))) en|(?:parle|parlez)(?=.* avec moi$)",
    'anglais, allemand, espagnol, français, italien, portugais, russe, malais, japonais, coréen, chinois, chinois traditionnel',
    '(?: avec moi)?',
  ],
  [
    "(?:rispondi|rispondimi|risponda|scrivi|scrivimi|parlami|parliamo|mi scriva)(?: sempre| solo)* in|la mia lingua(?: preferita)? è(?: l['’]| il)?|(?:preferisco|voglio|vorrei)(?: ricevere)? (?:tutte )?(?:le |le tue )?risposte in|(?:preferisco|voglio|vorrei) che (?:tu )?mi (?:risponda|parli|scriva) in|parla(?: in)?(?=.* con me$)",
    'inglese, tedesco, spagnolo, francese, italiano, portoghese, russo, malese, giapponese, coreano, cinese, cinese tradizionale',
    '(?: con me)?',
  ],
  [
    '(?:sempre )?(?:me responda|responda-me|responda|responde-me|responde|escreva|fale comigo|fala comigo|vamos (?:falar|conversar))(?: sempre| só| apenas| por favor)* em|(?:o )?meu idioma(?: preferido)? é(?: o)?|(?:a )?minha língua(?: preferida)? é(?: o)?|(?:prefiro|quero|gostaria de)(?: receber)? (?:todas )?(?:as |tuas |suas )?respostas em|(?:quero|prefiro|queria|gostaria) que (?:você |tu )?(?:me (?:responda|escreva)s?|fales? comigo|respondas?) em|fal[ae](?: em)?(?=.* comigo$)',
    'inglês, alemão, espanhol, francês, italiano, português, russo, malaio, japonês, coreano, chinês, chinês tradicional',
    '(?: comigo)?',
  ],
  [
    '(?:всегда )?(?:отвечай|отвечайте|пиши|пишите|говори|говорите|общайся|общайтесь|давай(?:те)? (?:общаться|говорить|переписываться))(?: мне| со мной| всегда| только| пожалуйста)*(?: на)?|мой язык(?: —| -)?|(?:я )?(?:хочу|предпочитаю)(?: получать)? ответы на|мне удобнее(?: общаться| говорить| читать)? на',
    '(?:по-английски|английском(?: языке)?|английский), (?:по-немецки|немецком(?: языке)?|немецкий), (?:по-испански|испанском(?: языке)?|испанский), (?:по-французски|французском(?: языке)?|французский), (?:по-итальянски|итальянском(?: языке)?|итальянский), (?:по-португальски|португальском(?: языке)?|португальский), (?:по-русски|русском(?: языке)?|русский), (?:по-малайски|малайском(?: языке)?), (?:по-японски|японском(?: языке)?|японский), (?:по-корейски|корейском(?: языке)?|корейский), (?:по-китайски|китайском(?: языке)?|китайский), традиционном китайском',
  ],
  [
    '(?:sentiasa )?(?:jawab|balas|tulis|cakap)(?: saya| sentiasa| kepada saya| dengan saya)* dalam(?: bahasa)?|bahasa (?:pilihan )?saya(?: ialah| adalah)?(?: bahasa)?|saya (?:mahu|nak|lebih suka) jawapan dalam(?: bahasa)?',
    'inggeris|inggris, jerman, sepanyol|spanyol, perancis|prancis, itali|italia, portugis, rusia, melayu, jepun|jepang, korea, cina|mandarin, cina tradisional',
  ],
  [
    '(?:antwoord|schrijf|praat|spreek|reageer)(?: me| mij| met mij| met me| graag| alleen| altijd)* in het|laten we (?:in het )?(?=\\S+ praten$)|ik (?:wil|heb) (?:liever |graag )?antwoorden in het|mijn (?:voorkeurs)?taal is(?: het)?',
    'engels, duits, spaans, frans, italiaans, portugees, russisch, maleis, japans, koreaans, chinees, traditioneel chinees',
    '(?: met (?:me|mij)| praten)?',
  ],
  [
    '(?:odpowiadaj|pisz|mów|rozmawiaj|odpisuj)(?: mi| do mnie| ze mną| proszę| zawsze| tylko)*(?: po| w języku)|(?:wolę|chcę|wolał(?:a)?bym|chciał(?:a)?bym) (?:rozmawiać|pisać)(?: z tobą)? po|żebyś (?:rozmawiał|pisał|mówił|odpowiadał)a?(?: ze mną| do mnie| mi)* po|mój język to',
    'angielsk(?:u|im|i), niemieck(?:u|im|i), hiszpańsk(?:u|im|i), francusk(?:u|im|i), włosk(?:u|im|i), portugalsk(?:u|im|i), rosyjsk(?:u|im|i), malajsk(?:u|im|i), japońsk(?:u|im|i), koreańsk(?:u|im|i), chińsk(?:u|im|i), tradycyjnym chińskim',
  ],
  [
    '(?:(?:bana|benimle|cevapları|yanıtları|hep|sadece|tüm|bütün) )*',
    'ingilizce, almanca, ispanyolca, fransızca, italyanca, portekizce, rusça, malayca, japonca, korece, çince, geleneksel çince',
    '(?: (?:olarak|hep|sadece|benimle))* (?:cevap ver|yanıt ver|yaz|konuş|konuşalım|cevapla|yanıtla)(?:in|ın|iniz)?(?: bana)?',
  ],
];
const unspacedLanguages: readonly (readonly [begin: string, names: string, end: string])[] = [
  [
    '(?:以后|以後|始终|始終|总是|總是|一直|一律|只|都|今后|请|請|永远)*(?:(?:跟|和|与|與)我)?(?:用|使用|以|[说說讲講])',
    '英[文语語], 德[文语語], 西班牙[文语語], 法[文语語], 意大利[文语語], 葡萄牙[文语語], 俄[文语語], 马来[文语], 日[文语語], 韩[文语語]|韓[文語], 简体中文|中文|汉语|普通话|簡體中文, 繁體中文|繁体中文|正體中文',
    '(?:(?:来|跟我|和我|给我|給我|與我|與|来跟我)*(?:回答|回复|回覆|交流|沟通|溝通|说话|說話|聊天|写|答复|答覆)(?:我|我的问题|我的問題)?|(?<=我[说說讲講]\\S{2,4}))',
  ],
  [
    '(?:いつも|必ず|常に|これからは|今後は|全部|返事は|返信は|回答は|ずっと)*',
    '英語, ドイツ語, スペイン語, フランス語, イタリア語, ポルトガル語, ロシア語, マレー語, 日本語, 韓国語, 中国語, 繁体字中国語',
    '(?:だけ)?で(?:返信|返事|回答|答え|話し|書い|お願い)[ぁ-ん]{0,4}(?:ください|下さい|ます|ね|欲しい|ほしい)?(?:です)?',
  ],
  [
    '(?:(?:항상|언제나|앞으로|앞으로는|꼭|제발|모두) ?)*',
    '영어, 독일어, 스페인어, 프랑스어, 이탈리아어, 포르투갈어, 러시아어, 말레이어, 일본어, 한국어, 중국어, 번체 중국어',
    '로(?:만)? ?(?:답|대답|답변|말|이야기|써|응답|얘기)(?:하|을|를|해)?[가-힣 ]{0,8}',
  ],
];
/** The languages of the rows above, of which `Intl` has the names of further languages. */
const rowLanguages = ['en', 'de', 'es', 'fr', 'it', 'pt', 'ru', 'ms', 'nl', 'pl', 'tr'];
const furtherCodes =
  'ar,bg,bn,ca,cs,da,el,et,eu,fa,fi,gl,he,hi,hr,hu,id,kk,lt,lv,nl,no,pl,ro,sk,sl,sr,sv,ta,th,tr,uk,ur,vi'.split(',');
const otherPatterns = languageNames.map(
  ([begin, , end = '']) => new RegExp(`^(?:${begin})\\s*(?<language>[\\p{L}-]+)${end}$`, 'iu'),
);
/** The names without the endings of cases, by row. Prepared on first use, because a start does not need them. */
let furtherNames: readonly ReadonlyMap<string, string>[] | undefined;
const stemOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/^по-/, '')
    .replace(/(?:ий|ом|и|ski|sku|skim)$/, '');

function furtherLanguage(clause: string): string | undefined {
  furtherNames ??= rowLanguages.map((row) => {
    const names = new Intl.DisplayNames(row, { type: 'language' });
    return new Map(furtherCodes.map((code) => [stemOf(names.of(code) ?? ''), code]));
  });
  for (const [row, pattern] of otherPatterns.entries()) {
    const name = pattern.exec(clause)?.groups?.language;
    const code = name && furtherNames[row]?.get(stemOf(name));
    if (code) return code;
  }
  return undefined;
}

const languagePatterns = [
  ...languageNames.map(([begin, names, end = '']) => [`(?:${begin})\\s*`, names, end] as const),
  ...unspacedLanguages,
].map(([begin, names, end]) =>
  names
    .split(', ')
    .map((one, place) => [new RegExp(`^(?:${begin})(?:${one})${end}$`, 'iu'), codes[place] ?? 'en'] as const),
);
const unspacedNegation = /[不别別勿没沒]|(?:ない|ません|ないで)|지 ?(?:마|말|않)|(?:^|\s)[안못] /u;

const zone = '(?<value>[a-z]+(?:/[a-z_+-]+){1,2}|(?:utc|gmt)(?: ?[+-]\\d{1,2}(?::\\d\\d)?)?)';
const city = "(?<city>[\\p{L}\\p{M}.'’-]+(?: [\\p{L}\\p{M}.'’-]+){0,2}?)";
const zoneBegins =
  "(?:my|the user['’]s|user['’]s) time ?zone(?: is|:)|meine zeitzone ist|mi zona horaria es(?: la de)?|mon fuseau horaire est(?: celui de)?|il mio fuso orario è(?: quello di)?|(?:o )?meu fuso(?: horário)? é(?: o de)?|мой часовой пояс(?: —| -)?|zon (?:waktu|masa) saya(?: ialah| adalah)?|我的(?:时区|時區)是|(?:私の)?タイムゾーンは|(?:제|내) 시간대는|mijn tijdzone is|moja strefa czasowa to|saat dilimim";
const zonePattern = new RegExp(
  `^(?:${zoneBegins}|i(?: am|['’]m) (?:in|on) (?:the )?)\\s*${zone}(?: time ?zone| time|です|입니다|이에요|예요)?$`,
  'iu',
);
const cityPattern = new RegExp(
  `^(?:(?:${zoneBegins})\\s*(?:the )?|i(?: am|['’]m) on (?=.* time$)|(?:für mich gilt|bei mir gilt|ich lebe nach) (?=.* zeit$)|je suis à l['’]heure de |(?:yo )?(?:manejo|tengo|uso|sigo) (?:el )?horario de |sono (?:sul|nel) fuso(?: orario)? di |я живу по времени )${city}(?: time ?zone| time| zeit|です|时间|時間|입니다)?$`,
  'iu',
);

/** Returns at most one statement of each fact: the last one. */
export function readStatements(content: string): readonly Statement[] {
  const found = new Map<Statement['fact'], Statement>();
  const text = content
    .normalize('NFKC')
    .replaceAll('’', "'")
    .replace(/[^\S\n]+/gu, ' ');
  for (const sentence of text.split(sentenceBorders)) {
    const untagged = sentence.replace(questionTag, '');
    if (/[?？] ?$/u.test(untagged)) continue;
    const stated = untagged.replace(reasons, '').replace(adverbs, '');
    if (vetoes.some((veto) => veto.test(stated)) || otherSubject.test(stated.replace(leadIns, ''))) continue;
    for (const part of stated.split(clauseBorders)) {
      const clause = withoutClosings(part.trim().replace(leadIns, ''));
      for (const statement of statementsOf(clause)) found.set(statement.fact, statement);
    }
  }
  return [...found.values()];
}

function* statementsOf(clause: string): Generator<Statement> {
  const named = namePatterns.map((pattern) => pattern.exec(clause)?.groups?.value).find((value) => value !== undefined);
  const value = named
    ?.replace(/^["«„“'‘「]/u, '')
    .replace(/["»“”'’」.]$/u, '')
    .trim();
  const isNone = value === undefined || noNames.test(value) || noNamesUnspaced.test(value);
  if (!isNone && value !== '') yield { fact: 'display_name', value };
  const language = unspacedNegation.test(clause)
    ? undefined
    : (languagePatterns.flat().find(([pattern]) => pattern.test(clause))?.[1] ?? furtherLanguage(clause));
  if (language !== undefined) yield { fact: 'language', value: language };
  const found = zonePattern.exec(clause)?.groups?.value;
  const place = cityPattern.exec(clause)?.groups?.city;
  const timezone = (found && knownZone(found)) ?? (place && zoneOfCity(place));
  if (timezone) yield { fact: 'timezone', value: timezone };
}

function knownZone(text: string): string | undefined {
  if (/^(?:utc|gmt)/i.test(text)) return text.toUpperCase().replace(' ', '');
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Names of cities that differ from the English ones by more than accents, each after the English one. */
const cityNames =
  'berlin:berlino:berlijn:берлин london:londres:londra:londen:лондон:londyn paris:parigi:parijs:paryz rome:roma:rom vienna:wien:vienne:viena warsaw:warschau:warszawa:varsovie:varsovia lisbon:lisboa:lisbonne:lissabon brussels:bruxelles:brussel moscow:москва:moskau tokyo:tokio:东京:東京:도쿄 shanghai:上海:北京 seoul:서울 taipei:台北 hong_kong:香港';

/** The zones by the name of their city, without accents. Prepared on first use, because a start does not need them. */
let zonesByCity: ReadonlyMap<string, string> | undefined;

function zoneOfCity(name: string): string | undefined {
  zonesByCity ??= new Map(
    Intl.supportedValuesOf('timeZone').flatMap((zone) => {
      const english = zone.split('/').at(-1)?.toLowerCase() ?? '';
      const names = cityNames.split(' ').map((names) => names.split(':'));
      return (names.find(([first]) => first === english) ?? [english]).map((one) => [one, zone] as const);
    }),
  );
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').normalize('NFKC').toLowerCase().replaceAll(' ', '_');
  return zonesByCity.get(plain) ?? zonesByCity.get(plain.replace(/er$/, ''));
}
