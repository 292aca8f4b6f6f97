/**
 * Pairs of contents, written by hand, and whether both have the same meaning. `merge`: one memory. `conflict`: two memories that
 * are linked as a conflict. `apart`: two memories. `paraphrase`: the same meaning, which the rules cannot detect. Two memories
 * are not a fault.
 */
export type Outcome = 'merge' | 'conflict' | 'apart' | 'paraphrase';

const table: Readonly<Record<Outcome, string>> = {
  merge: `
I keep bees on the roof | I keep bees on the roof.
I keep bees on the roof | i KEEP bees   on the roof
I don't eat meat | I do not eat meat
I'm allergic to peanuts | I am allergic to peanuts
I have two cats | I have 2 cats
The user likes hiking | I like hiking
The user has a dog named Rex | I have a dog named Rex
User prefers dark mode | The user prefers dark mode
I prefer dark mode | I really prefer dark mode
Please call me Robin | Call me Robin
The user's favourite colour is teal | The user's favourite colour is teal!
I need 1,000 copies | I need 1000 copies
The workshop is at 10:30 on Monday | The workshop is at 10:30 on monday
It's raining in my home town | It is raining in my home town
Ich mag Katzen | ich mag Katzen!
Ich trinke gern schwarzen Tee am Morgen im Garten | Ich trinke sehr gern schwarzen Tee am Morgen im Garten
Ich habe zwei Kinder | Ich habe 2 Kinder
J'aime le café | J'aime le café.
J'habite à Lyon | j'habite à Lyon !
J'ai trois frères | J'ai 3 frères
Me gusta el té verde | me gusta el té verde
Tengo dos perros | Tengo 2 perros
Vivo en Sevilla | Vivo en Sevilla.
Mi piace la musica jazz | Mi piace molto la musica jazz
Abito a Torino | abito a Torino
Eu gosto de café | Eu gosto de café.
Eu gosto de música brasileira antiga nas manhãs de domingo | Eu gosto muito de música brasileira antiga nas manhãs de domingo
Saya suka kopi | Saya suka kopi!
Saya ada dua kucing | Saya ada 2 kucing
Я люблю кофе | Я очень люблю кофе
У меня две собаки | У меня 2 собаки
我喜欢喝茶 | 我喜欢喝茶。
我很喜欢喝茶 | 我喜欢喝茶
我喜欢喝茶 | 我爱喝茶
我有三只猫 | 我有3只猫
用户喜欢喝茶 | 我喜欢喝茶
我喜歡喝茶 | 我喜歡喝茶！
私は猫が好きです | 私は猫が好き
猫が好きです | 猫が好きです。
나는 커피를 좋아한다 | 나는 커피를 좋아한다.
저는 서울에 살아요 | 저는 서울에 살아요!
👍👍 | 👍👍
My sister's name is Ana | Ana is my sister
I am a vegetarian | I follow a vegetarian diet
I get up early | I am an early riser
Ich wohne in Berlin | Mein Wohnort ist Berlin
`,
  conflict: `
I like cats | I don't like cats
I eat meat | I do not eat meat
I can swim | I cannot swim
He smokes | He doesn't smoke
I always answer in French | I never answer in French
I take sugar in my tea | I take my tea without sugar
Nobody knows about the plan | Everybody knows about the plan
I eat fish, I don't eat meat | I eat meat, I don't eat fish
I have 2 cats | I have 3 cats
I have two cats | I have three cats
I have two cats | I have 3 cats
My budget is 500 euros | My budget is 1500 euros
The meeting is at 10:30 | The meeting is at 11:30
My birthday is on 4 May | My birthday is on 5 May
The release is on Monday | The release is on Tuesday
The trial starts in March | The trial starts in April
We meet today | We meet tomorrow
The train leaves on 2026-05-01 | The train leaves on 2026-06-01
Man bites dog | Dog bites man
Anna called Ben | Ben called Anna
I gave Anna the keys | Anna gave me the keys
He loves her | She loves him
I fly from Berlin to Munich | I fly from Munich to Berlin
I like cats but not dogs | I like dogs but not cats
Ich mag Katzen | Ich mag keine Katzen
Ich esse Fleisch | Ich esse nicht Fleisch
Ich habe zwei Kinder | Ich habe drei Kinder
Das Treffen ist am Montag | Das Treffen ist am Dienstag
J'aime le café | Je n'aime pas le café
J'ai deux frères | J'ai trois frères
La réunion est lundi | La réunion est mardi
Me gusta el té | No me gusta el té
Tengo dos perros | Tengo tres perros
La cita es el lunes | La cita es el martes
Mi piace la carne | Non mi piace la carne
Ho due fratelli | Ho tre fratelli
La riunione è lunedì | La riunione è martedì
Eu gosto de café | Eu não gosto de café
Tenho dois gatos | Tenho três gatos
Saya suka kopi | Saya tidak suka kopi
Saya ada dua kucing | Saya ada tiga kucing
Mesyuarat pada hari Isnin | Mesyuarat pada hari Selasa
Я люблю кофе | Я не люблю кофе
У меня две собаки | У меня три собаки
Встреча в понедельник | Встреча в среду
我喜欢猫 | 我不喜欢猫
我有两只猫 | 我有三只猫
会议在星期一 | 会议在星期二
我喜歡貓 | 我不喜歡貓
我吃肉 | 我从不吃肉
猫が好きです | 猫が好きではありません
猫を二匹飼っています | 猫を三匹飼っています
会議は月曜日です | 会議は火曜日です
나는 고양이를 좋아한다 | 나는 고양이를 안 좋아한다
나는 고양이 두 마리를 키운다 | 나는 고양이 세 마리를 키운다
회의는 월요일에 있다 | 회의는 화요일에 있다
`,
  apart: `
We always meet in the blue room near the entrance | We always meet in the small blue room near the entrance
I work as a nurse at the children's hospital in Leeds | I work as a night nurse at the children's hospital in Leeds
My sister lives in Oslo with her husband | My sister lives in Oslo with her kind husband
I live in Berlin | I live in Munich
I lived in Berlin | I live in Berlin
I was a nurse | I am a nurse
My favourite colour is teal | My favourite colour is red
My sister likes cats | My brother likes cats
I like tea | I like coffee
I take the pill before lunch | I take the pill after lunch
The server is on | The server is off
I write C | I write C++
I write C# | I write C++
Turn left at the church | Turn right at the church
Hello | Hi there
Good morning | Good evening
Thanks | Thank you so much
👍 | 👎
-5 | +5
I use an iPhone | I use an iPad
I drink coffee | I rarely drink coffee
I like this film | I like this film only on paper
I speak French | I speak French and Spanish
Is it raining? | It is raining
Anna is older than Ben | Anna is younger than Ben
I trust Sam | I trust Pam
Ich wohne in Köln | Ich wohne in Bonn
J'habite à Paris | J'habite à Nice
Vivo en Madrid | Vivo en Lima
Abito a Roma | Abito a Milano
Moro no Porto | Moro no Recife
Saya tinggal di Ipoh | Saya tinggal di Melaka
Я живу в Москве | Я живу в Казани
我喜欢狗 | 我喜欢猫
我住在北京 | 我住在上海
张三打了李四 | 李四打了张三
私は東京に住んでいます | 私は京都に住んでいます
나는 서울에 산다 | 나는 부산에 산다
`,
  paraphrase: `
I love hiking | I am fond of walking in the mountains
`,
};

export interface Pair {
  readonly outcome: Outcome;
  readonly first: string;
  readonly second: string;
}

export const pairs: readonly Pair[] = Object.entries(table).flatMap(([outcome, lines]) =>
  lines
    .trim()
    .split('\n')
    .map((line) => {
      const [first = '', second = ''] = line.split(' | ');
      return { outcome: outcome as Outcome, first, second };
    }),
);
