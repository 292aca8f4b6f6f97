import { readFileSync } from 'node:fs';
import { blindSentences as blindText } from './blind.fixture.ts';

/** Sentences in the 12 content languages. A line with `=` states a fact of the user; all others state none. */
const written = `
display_name=Anna | My name is Anna and I like cats
display_name=Marta | My name is Marta, I live in Porto
display_name=Robin | Call me Robin please
display_name=Mary Jane | my full name is Mary Jane.
display_name=Sam | Hi, I'm called Sam
display_name=Jo | Please call me Jo from now on
display_name=Ludwig van Beethoven | My name's Ludwig van Beethoven
display_name=Kim | The user's name is Kim
display_name=Anna | Everyone calls me Anna
language=de | Answer me in German, please
language=en | Always answer in English
language=es | Please reply in Spanish
language=fr | My preferred language is French
language=ja | I'd like your answers in Japanese
language=it | Respond to me only in Italian
timezone=Europe/Berlin | My time zone is Europe/Berlin
timezone=UTC+2 | my timezone is UTC+2
timezone=Asia/Tokyo | I'm in the Asia/Tokyo time zone
display_name=Klara | Ich heiße Klara und mag Tee
display_name=Jürgen Maier | Mein Name ist Jürgen Maier.
display_name=Tom | Nenn mich bitte nicht anders: | -
display_name=Lena | Du kannst mich Lena nennen
language=de | Antworte mir bitte auf Deutsch
language=en | Bitte antworte immer auf Englisch
language=fr | Schreib mir auf Französisch
language=de | Meine Sprache ist Deutsch
timezone=Europe/Vienna | Meine Zeitzone ist Europe/Vienna
display_name=Lucía,timezone=America/Guayaquil | Me llamo Lucía y vivo en Quito
display_name=José Luis | Mi nombre es José Luis
display_name=Pepe | Llámame Pepe, por favor
language=es | Respóndeme siempre en español
language=en | Contesta en inglés
language=es | Mi idioma es el español
display_name=Chloé | Je m'appelle Chloé et j'aime le bleu
display_name=Luc | Appelle-moi Luc
display_name=Jean-Pierre | Mon nom est Jean-Pierre
language=fr | Réponds-moi toujours en français
language=en | Répondez en anglais, s'il vous plaît
language=fr | Ma langue est le français
display_name=Giulia | Mi chiamo Giulia e dipingo
display_name=Marco | Il mio nome è Marco
display_name=Ale | Chiamami Ale
language=it | Rispondimi in italiano
language=en | Rispondi sempre in inglese
display_name=João | Meu nome é João e moro em Lisboa
display_name=Beatriz | Me chamo Beatriz
display_name=Bia | Pode me chamar de Bia
language=pt | Responda sempre em português
language=en | Responde-me em inglês
display_name=Анна | Меня зовут Анна и я рисую
display_name=Иван Петров | Моё имя Иван Петров
display_name=Саша | Зови меня Саша
language=ru | Отвечай мне по-русски
language=en | Отвечайте на английском языке
language=ru | Пожалуйста, пиши на русском
display_name=Aisyah | Nama saya Aisyah dan saya suka kopi
display_name=Farid | Panggil saya Farid
display_name=Lim | Nama saya ialah Lim
language=ms | Jawab dalam bahasa Melayu
language=en | Sila jawab dalam bahasa Inggeris
display_name=小明 | 我叫小明
display_name=王芳 | 我的名字是王芳，喜欢画画
display_name=阿杰 | 请叫我阿杰
language=zh_CN | 请用中文回答
language=en | 以后都用英文回复我
language=zh_TW | 請用繁體中文回覆
display_name=李雅 | 我的名字叫李雅
timezone=Asia/Shanghai | 我的时区是Asia/Shanghai
display_name=健太 | 私の名前は健太です
display_name=さくら | さくらと呼んでください
display_name=田中 | 私は田中と申します
language=ja | 日本語で返信してください
language=en | いつも英語で答えてください
language=ja | これからは日本語でお願いします
display_name=민수 | 제 이름은 민수입니다
display_name=지은 | 저는 지은이라고 합니다
language=ko | 한국어로 대답해 주세요
language=en | 항상 영어로 답변해 줘
display_name=하나 | 내 이름은 하나예요
timezone=Asia/Seoul | 제 시간대는 Asia/Seoul입니다
Don't reply in French
Never answer in French
I write in German for my clients
I can't write in German
My clients write in Spanish
Call me back tomorrow
Call me when the render fails
Call me a taxi
Call me Monday
my name is on the door
My name is not Marta
My name is hard to spell
My sister's name is Anna
My dog's name is Rex
If I write in German, answer in German
When I ask in French, reply in French
She said, my name is Tom
He told me: call me Anna
"My name is Anna" is the first line of the song
Is my name Anna?
Do you answer in English?
Reply in French to my clients
I answer in German at work
Pretend my name is Bob
Everyone calls my cat Luna
I don't like it when you call me Bob
My name was Anna before I married
My mother speaks Italian
Translate the text into German
My favorite time zone joke is about UTC
The meeting is in the Europe/Berlin time zone
Write the caption in Spanish and the title in English
Ich heiße nicht Klara
Meine Schwester heißt Klara
Ruf mich morgen an
Antworte nicht auf Englisch
Antworte nie auf Deutsch
Wenn ich auf Deutsch schreibe, antworte auf Deutsch
Er sagte, mein Name ist Hase
Ich schreibe auf Englisch für meine Kunden
Meine Kundin heißt Frau Berger
Nenn mich nicht Schatz
Wie heiße ich?
No me llamo Pedro
Mi hermano se llama Pedro
No respondas en inglés
Nunca contestes en español
Llámame mañana
Llámame cuando termine
Si escribo en inglés, responde en inglés
Mis clientes escriben en francés
Dijo que me llamo Ana
Je ne m'appelle pas Luc
Mon frère s'appelle Luc
Ne réponds pas en français
Ne réponds jamais en anglais
Appelle-moi demain
Appelle-moi quand c'est fini
Si j'écris en anglais, réponds en anglais
Mes clients parlent espagnol
Non mi chiamo Marco
Mio figlio si chiama Marco
Non rispondere in inglese
Chiamami domani
Chiamami quando hai finito
Se scrivo in inglese, rispondi in inglese
I miei clienti scrivono in tedesco
Não me chamo João
Meu filho se chama João
Não responda em inglês
Me chame amanhã
Me chame quando terminar
Se eu escrever em inglês, responda em inglês
Меня не зовут Анна
Мою собаку зовут Рекс
Не отвечай по-русски
Я не говорю по-русски
Позови меня завтра
Если я пишу по-английски, отвечай по-английски
Мои клиенты пишут по-немецки
Nama saya bukan Ali
Nama kucing saya Comel
Jangan jawab dalam bahasa Inggeris
Panggil saya apabila siap
Kalau saya tulis dalam bahasa Inggeris, jawab dalam bahasa Inggeris
Pelanggan saya menulis dalam bahasa Inggeris
我叫不出名字
我不叫小明
我妹妹叫小红
不要用中文回答
别用英文回复我
如果我用英文，请用英文回答
我的客户用日语写信
叫我起床
我叫了外卖
日本語で書かないでください
私の名前は健太ではありません
妹の名前は花子です
英語で答えないで
英語で聞いたら英語で答えてください
顧客は英語で書きます
제 이름은 민수가 아닙니다
제 동생 이름은 지은입니다
영어로 대답하지 마세요
영어로 물어보면 영어로 대답해 주세요
고객은 일본어로 써요
display_name=Priya | Hello! My name is Priya.
display_name=Theo | You can call me Theo
display_name=Grace | My name is Grace; I run a small bakery
language=de | I want all answers in German
language=en | Write to me in English
timezone=America/New_York | My timezone is America/New_York
language=pt | Please speak Portuguese with me
display_name=Felix | Nenne mich Felix
display_name=Mia | Mein Name ist Mia, ich male gern
language=de | Bitte sprich Deutsch mit mir
language=en | Antworten bitte auf Englisch
display_name=Diego | Puedes llamarme Diego
language=es | Háblame en español, por favor
language=es | Quiero las respuestas en español
display_name=Inés | Mi nombre es Inés y soy diseñadora
display_name=Hugo | Salut, moi c'est Hugo
display_name=Margaux | Appelez-moi Margaux
language=fr | Parle-moi en français
language=fr | Je veux des réponses en français
display_name=Zoé | Je m'appelle Zoé, j'ai deux chats
display_name=Elisa | Puoi chiamarmi Elisa
language=it | Parlami in italiano
language=it | Scrivimi in italiano, per favore
display_name=Ana | Pode me chamar de Ana
language=pt | Fale comigo em português
language=pt | Quero respostas em português
display_name=Олег | Привет, меня зовут Олег
display_name=Настя | Называй меня Настя
language=ru | Говори со мной по-русски
language=ru | Пиши мне на русском языке
display_name=Siti | Panggil saya Siti
language=ms | Sila jawab dalam bahasa Melayu
language=en | Tolong balas dalam bahasa Inggeris
display_name=健太 | 健太と呼んでください
display_name=美咲 | 私の名前は美咲です
language=ja | 日本語で答えてください
language=en | 英語で返信してください
display_name=민준 | 제 이름은 민준이에요
display_name=서연 | 저는 서연이라고 해요
display_name=李娜 | 你可以叫我李娜
language=zh_CN | 请用中文回答我
language=en | 请用英文回复
display_name=阿德 | 請叫我阿德
timezone=Europe/Madrid | Mi zona horaria es Europe/Madrid
My name isn't Priya anymore
Don't call me Theo
Call me as soon as you are done
They call me at night
My company is called Northwind
My name tag fell off
I can't speak German
Translate this poem into German
Reply in French to the customer
If I write in French, answer in French
She asked me to answer in English
The book "My name is Red" is great
I am tired of answers in English
Stop answering in Spanish
Ich heiße dich willkommen
Ruf mich morgen an
Meine Tochter heißt Mia
Antworte nicht auf Englisch
Mein Chef möchte Antworten auf Englisch
Nenn mich nie wieder Schatz
Me llamo a mí mismo artista
No me llames Diego
Mi perro se llama Toby
Mis clientes escriben en inglés
No respondas en español
Je m'appelle souvent moi-même
Mon fils s'appelle Hugo
Ne m'appelle pas Margot
Réponds au client en anglais
Je ne parle pas français
Mia sorella si chiama Elisa
Non chiamarmi Luca
Non rispondere in italiano
Sono stanco
Sono di Milano
Meu gato se chama Bento
Não me chame de Ana
Não responda em português
Sou de Lisboa
Не называй меня Настя
Мою маму зовут Вера
Не отвечай по-английски
Мой друг пишет по-русски
Jangan panggil saya Siti
Nama kucing saya Oyen
Jangan jawab dalam bahasa Inggeris
Saya Melayu
先生と呼ばないでください
私の犬の名前はポチです
英語で答えないでください
제 동생 이름은 민준이에요
영어로 대답하지 마세요
我的猫叫小明
别叫我李娜
不要用英文回答
我叫了一辆出租车
客户用英文写邮件
I'm German
I'm Hungry
Ich bin Berliner
Soy Vegetariana
My clients read my mails and answer in English
My parents live in Berlin and speak German
They call me every day, write in French
The team sits in Paris and writes to me in French
My colleagues speak German with me
Meine Kunden rufen an und antworten auf Englisch
Die Kinder spielen und sprechen Deutsch mit mir
Mi hermana vive en Londres y habla inglés conmigo
Mis clientes llaman y responden en inglés
Mon fils étudie et parle anglais avec moi
Mia sorella vive a Berlino e parla tedesco con me
Minha irmã mora em Londres e fala inglês comigo
Моя сестра живёт в Берлине и пишет на немецком
Kawan saya tinggal di London dan balas dalam bahasa Inggeris
Speak German to my customers
I speak German
Ich spreche Deutsch
Hablo inglés
Parla italiano con mia madre
display_name=Nora | Hi, my name is Nora and I live in Bergen
language=en | I want you to answer in English
language=fr | Please talk French to me
language=de | Sprich Deutsch mit mir
language=es | Habla español conmigo
language=it | Vorrei le risposte in italiano
language=pt | Fala português comigo
language=ru | Я предпочитаю ответы на русском
`;

export interface Written {
  readonly text: string;
  readonly states: string | undefined;
}

const readSentences = (text: string): readonly Written[] =>
  text
    .trim()
    .split('\n')
    .filter((line) => !line.endsWith('| -') && !line.startsWith('# '))
    .map((line) => {
      const [, states, sentence = line] = /^([a-z_]+=[^|]+) \| (.+)$/.exec(line) ?? [];
      return { text: sentence, states };
    });

export const writtenSentences = readSentences(written);

/** Sentences whose writer had not seen the rules. The rules were tuned with both halves later. */
export const blindSentences = readSentences(blindText);

/** Sentences that the words of statements were collected from: 576 of another writer, and those of the words' authors. */
export const collectedSentences = readFile('statements.fixture.txt');

/** By a third writer, who had seen neither the words nor the rules. No one read them before the words were complete. */
export const thirdSentences = readFile('statements-third.fixture.txt');

/** As ten people would write, before the rules knew them: 25 statements and 25 traps in each language. The words were tuned with them later. */
export const everydaySentences = readFile('statements-everyday.fixture.txt');

/** By a writer who had not seen the rules. The words were tuned with them later. */
export const fifthSentences = readFile('statements-fifth.fixture.txt');

/** Harder ones, and residence that must not be read. The words were tuned with them later. */
export const sixthSentences = readFile('statements-sixth.fixture.txt');

/** Korean, Malay and Russian, by a writer who had not seen the rules. The words were tuned with them later. */
export const seventhSentences = readFile('statements-seventh.fixture.txt');

function readFile(name: string) {
  return readSentences(readFileSync(new URL(name, import.meta.url), 'utf8'));
}

/** Traps next to places of residence, Arabic statements and questions with "ok?", in 13 languages. */
export const residenceTraps = readFile('statements-traps.fixture.txt');
