/** Pairs of texts that calibrate embedders (calibration.ts). After a change, raise the edition. */

export const edition = 3;

export type Pair = readonly [string, string];

/** One fact in two phrasings. */
export const same: readonly Pair[] = [
  ['I am a vegetarian', 'I follow a vegetarian diet'],
  ['I live in Berlin', 'My home is in Berlin'],
  ['Please keep your answers short', 'Keep your replies brief, please'],
  ['I work as a nurse', 'I am a nurse by profession'],
  ['My dog is called Rex', 'I have a dog named Rex'],
  ['I prefer dark mode', 'I really prefer using dark mode'],
  ['My favorite color is green', 'Green is my favorite color'],
  ['The logo belongs in the top left corner', 'Put the logo into the top left corner'],
  ['I am allergic to nuts', 'I have a nut allergy'],
  ['Use a white background for product pictures', 'Product pictures need a white background'],
  ['Ich wohne in Hamburg', 'Mein Zuhause ist in Hamburg'],
  ['Bitte antworte kurz', 'Halte deine Antworten bitte kurz'],
  ['Ich arbeite als Lehrerin', 'Ich bin von Beruf Lehrerin'],
  ['Mi color favorito es el azul', 'El azul es mi color favorito'],
  ['Trabajo como abogado en Madrid', 'Soy abogado y trabajo en Madrid'],
  ["J'habite à Marseille", 'Je vis à Marseille'],
  ['Je préfère les réponses courtes', "J'aime mieux les réponses brèves"],
  ['Il mio cane si chiama Otto', 'Ho un cane di nome Otto'],
  ['Moro em Salvador com minha família', 'Eu vivo em Salvador com a família'],
  ['Я работаю учителем', 'По профессии я учитель'],
  ['Saya tinggal di Melaka', 'Rumah saya di Melaka'],
  ['我住在上海', '我的家在上海'],
  ['请用中文回答', '请你用中文来回答'],
  ['猫が好きです', '私は猫が大好きです'],
  ['東京に住んでいます', '私の家は東京にあります'],
  ['저는 부산에 살아요', '제 집은 부산에 있어요'],
];

/** Two facts about one subject. */
export const different: readonly Pair[] = [
  ['I am a vegetarian', 'I love grilled steak'],
  ['I live in Berlin', 'I was born in Warsaw'],
  ['Please keep your answers short', 'Please explain everything in detail'],
  ['I work as a nurse', 'I work as an engineer'],
  ['My dog is called Rex', 'My cat is called Luna'],
  ['I prefer dark mode', 'I prefer large fonts'],
  ['My favorite color is green', 'My favorite food is pizza'],
  ['The logo belongs in the top left corner', 'The logo shows a golden lion'],
  ['I am allergic to nuts', 'I am allergic to cats'],
  ['Use a white background for product pictures', 'Use a watermark for product videos'],
  ['Ich wohne in Hamburg', 'Ich studiere in München'],
  ['Bitte antworte kurz', 'Bitte antworte auf Englisch'],
  ['Ich arbeite als Lehrerin', 'Meine Schwester ist Lehrerin'],
  ['Mi color favorito es el azul', 'Mi libro favorito es el Quijote'],
  ['Trabajo como abogado en Madrid', 'Estudio medicina en Sevilla'],
  ["J'habite à Marseille", 'Je travaille à Paris'],
  ['Je préfère les réponses courtes', 'Je préfère les images carrées'],
  ['Il mio cane si chiama Otto', 'Mia figlia si chiama Anna'],
  ['Moro em Salvador com minha família', 'Minha família gosta de futebol'],
  ['Я работаю учителем', 'Я люблю читать романы'],
  ['Saya tinggal di Melaka', 'Saya bekerja di Johor'],
  ['我住在上海', '我在北京工作'],
  ['请用中文回答', '请用红色的背景'],
  ['猫が好きです', '犬が苦手です'],
  ['東京に住んでいます', '京都で働いています'],
  ['저는 부산에 살아요', '저는 서울에서 일해요'],
];

/** Questions that concern none of the facts above. */
export const unrelated: readonly string[] = [
  'How do I unblock a kitchen sink?',
  'Which planet has the most moons?',
  'What does a carburetor do?',
  'Explain how compound interest grows',
  'Write a limerick about a lighthouse keeper',
  'How many ounces are in a pound?',
  'Fix this error: undefined is not a function',
  'Who painted the ceiling of the Sistine Chapel?',
  'Wie funktioniert ein Wärmetauscher?',
  'Warum haben Zebras Streifen?',
  '¿Cuánto dura un eclipse solar?',
  '¿Cómo se calcula una derivada?',
  'Comment fait-on fondre le verre ?',
  'Chi ha inventato il telescopio?',
  'Quantos ossos tem o corpo humano?',
  'Почему море солёное?',
  'Bagaimana gunung berapi meletus?',
  '光速是多少？',
  '地震はなぜ起きますか',
  '컴퓨터 바이러스는 어떻게 퍼지나요?',
];
