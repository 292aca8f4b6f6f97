/**
 * A small labelled set, made by hand for this repository: 10 made-up people with 30 memories and 15 questions each. After
 * a question stand the numbers of the memories that answer it. It is ours, so it shows that nothing got worse, not how good
 * it is: no constant was tuned to it.
 */
const table = [
  `Robin grew up in a lighthouse on the Norwegian coast
Robin's favourite breakfast is porridge with cloudberries
Robin is training for the Bergen marathon in April
Robin's knee was operated on two years ago
The old wooden boat is called Stormfugl
Robin repairs violins for a living
The workshop has been rented from Mrs. Larsen since 2019
Robin is allergic to walnuts and hazelnuts
Robin's daughter Ida studies astronomy in Tromsø
Robin never works on Sundays
The van needs new tyres before the winter
Robin prefers answers without bullet points
Robin plays the hardanger fiddle in a quartet
The quartet rehearses every Thursday evening
Robin's father kept pigeons
The doctor recommended less salt
Robin reads crime novels on the train
A client from Vienna ordered a baroque viola
Robin pays the electricity bill by direct debit
Robin is afraid of flying
The insurance for the workshop expires in June
Robin would like to learn Portuguese
Robin's neighbour waters the plants during holidays
The best spruce comes from the Fiemme valley
Robin drinks coffee only before noon
A burglar broke the window of the workshop last autumn
Robin donates to the sea rescue service every Christmas
Robin met his wife at a dance in Stavanger
The cat is called Paganini
Robin wants invoices to be written in Norwegian
? What pet does Robin have => 29
? Which nuts must be avoided => 8
? When does the quartet practise => 14
? What is the name of the boat => 5
? Where did Robin spend his childhood => 1
? What does Ida study => 9
? Which races is he preparing for => 3
? What did the customer in Vienna order => 18
? Who owns the rented workshop => 7
? Where did he meet his wife => 28
? What should be repaired on the van => 11
? In which language should invoices be => 30
? What was stolen or broken at the workshop => 26
? Which instruments does Robin repair or play => 6 13
? Does he like to fly => 20`,
  `Amara runs a bakery in Leeds with her brother Tunde
The sourdough starter is fed at five in the morning
Amara wants all prices shown in pounds
The bakery closes on Mondays
Amara's oven was built by a Polish craftsman
Amara takes the bus because she has no driving licence
Her mother lives in Lagos and calls on Fridays
Amara is vegetarian but eats eggs
The landlord raised the rent in March
Amara supports Leeds United
The new apprentice is called Joel
Joel is often late on Wednesdays
Amara sings in a gospel choir
The wedding cake for the Okafors is due on 12 August
Amara's glasses have a prescription of minus three
Flour is delivered by Hartley Mills
Amara prefers short answers
She broke her wrist skiing in 2021
The accountant is Mr. Feldman
Amara dreams of opening a second shop in York
Her nephew is allergic to sesame
The coffee machine leaks water
Amara collects old postcards of piers
Tunde handles the orders from restaurants
The bakery won a prize for its rye bread
Amara swims before sunrise at the lido
The till runs on software from Denmark
Her favourite film is Paddington
She learned baking from her grandmother
Amara keeps the recipes in a blue notebook
? Who delivers the flour => 16
? On which day is the shop closed => 4
? Where are the recipes kept => 30
? Who taught her to bake => 29
? What is wrong with the coffee machine => 22
? When must the wedding cake be ready => 14
? Which football club does she support => 10
? Who takes care of restaurant orders => 24
? What does Amara collect => 23
? Which prizes did the bakery win => 25
? Who does the accounts => 19
? What is the apprentice's name and is he late => 11 12
? Which allergies are there in the family => 21
? How did she break her wrist => 18
? Where does her mother live => 7`,
  `Kenji's startup builds sensors for vineyards
The production database runs on PostgreSQL 16
Deployments happen on Tuesdays and Thursdays only
Kenji writes his backend services in Go
The frontend was rewritten in Svelte last year
The staging server is called kumquat
All commits must be signed
Kenji prefers tabs over spaces
Error budgets are reviewed every month
The biggest customer is a winery in Mendoza
Kenji broke the build twice in September
Secrets are stored in a vault, not in the repository
The on-call rotation has five engineers
Kenji uses a split keyboard because of wrist pain
Logs are kept for thirty days
The company retreat takes place in Kyoto
Kenji's manager is called Paulina
The mobile app supports offline mode
Kenji studied physics in Osaka
Interviews are scheduled by Beatriz
The sensors report humidity every ten minutes
Kenji mutes notifications after nine in the evening
The firmware is updated over LoRa
Code reviews need two approvals
Kenji likes explanations with diagrams
The office plants are watered by a robot
The marketing site is hosted on a different cloud
Kenji's favourite editor is Helix
A memory leak in the gateway cost a whole weekend
Backups are tested on the first day of each quarter
? Which database is used in production => 2
? When may we deploy => 3
? What is the staging server's name => 6
? How many approvals does a review need => 24
? How long are logs retained => 15 
? What do the sensors measure => 21
? Where are secrets stored => 12
? Which programming language does the backend use => 4
? Who schedules interviews => 20
? Which editor does he like => 28
? How is firmware updated => 23
? When are backups tested => 30
? What caused the lost weekend => 29
? Why does he have a split keyboard => 14
? Where is the biggest customer => 10`,
  `Sofia teaches chemistry at a secondary school
Her class visits the glass museum in May
Sofia marks exams on Saturday mornings
She cycles to school even in the rain
The lab has twelve burners
Sofia is writing a children's book about atoms
Her publisher asked for fewer formulas
She has twin sons called Leo and Max
Leo plays handball
Max is learning the trumpet
The family rents a cabin near the lake each summer
Sofia speaks Greek with her parents
Her phone has a cracked screen
She prefers metric units in all answers
The heating in the flat is too noisy
Sofia gave up smoking ten years ago
Her best friend Nadia moved to Toronto
She baked a cake in the shape of a molecule
The school's roof is being repaired
Sofia votes by post
She takes vitamin D in winter
The parents' evening is on the second Tuesday of November
Sofia wants examples before theory
Her grandfather was a beekeeper
Sofia's laptop runs Linux
She lost her keys at the theatre
The illustrator of the book lives in Porto
Max is scared of thunderstorms
Sofia gets migraines from strong perfume
The goldfish is called Curie
? What is her book about => 6
? Which instrument does Max learn => 10
? What sport does Leo do => 9
? When is parents' evening => 22
? Where did Nadia move => 17
? What triggers her migraines => 29
? Who illustrates the book => 27
? Which units should be used => 14
? What did she lose at the theatre => 26
? Where does the family spend its summers => 11
? What is the fish called => 30
? Which museums will the class visit => 2
? How does Sofia get to school => 4
? What was her grandfather's profession => 24
? When does she correct exams => 3`,
  `Jonas wohnt in einer alten Mühle bei Freiburg
Jonas arbeitet als Schreiner
Er trinkt keinen Alkohol
Seine Frau Miriam ist Tierärztin
Die Werkstatt liegt im Erdgeschoss
Jonas hat Angst vor Hunden
Er hört beim Arbeiten gern Hörbücher
Die Tochter heißt Lena und geht in die dritte Klasse
Das Auto muss im Juli zum TÜV
Jonas sammelt alte Hobel
Er möchte mit Du angesprochen werden
Im Garten stehen vier Apfelbäume
Der Most wird im Oktober gepresst
Jonas spielt donnerstags Schach im Verein
Er ist gegen Katzenhaare allergisch
Die Großmutter kommt aus Südtirol
Jonas fährt im Winter Langlaufski
Der Auftrag für die Bibliothek umfasst dreißig Regale
Sein Lieblingsholz ist Kirsche
Die Rechnungen schreibt Miriam
Jonas hat sich den Daumen verletzt
Das Dach der Mühle ist undicht
Er liest am liebsten Reiseberichte
Jonas kauft sein Holz im Sägewerk Huber
Der Lehrling heißt Emre
Emre macht im Frühjahr seine Prüfung
Die Familie fährt an die Ostsee
Jonas mag kurze Antworten
Das Fahrrad wurde am Bahnhof gestohlen
Er backt jeden Samstag Brot
? Wo wohnt Jonas => 1
? Welchen Beruf hat seine Frau => 4
? Wann wird der Most gepresst => 13
? Was sammelt er => 10
? Wie heißt der Lehrling => 25
? Wann ist die Prüfung von Emre => 26
? Wovor hat er Angst => 6
? Was wurde gestohlen => 29
? Welches Holz mag er am liebsten => 19
? Wo kauft er Holz => 24
? Was ist am Dach kaputt => 22
? An welchem Tag spielt er Schach => 14
? Wohin verreist die Familie => 27
? Wie viele Regale bestellte die Bibliothek => 18
? Welche Allergie hat Jonas => 15`,
  `Camille habite à Nantes près de la Loire
Elle travaille comme architecte
Son cabinet rénove une ancienne gare
Camille déteste les réunions du lundi
Elle a un fils, Jules, qui a sept ans
Jules apprend le piano
Camille est végétarienne depuis l'université
Son vélo est rouge
Elle prend le train de 7 h 12
Sa mère vit en Bretagne
Le toit de la gare doit être fini en septembre
Camille préfère les plans en couleur
Elle court le dimanche au bord de l'eau
Son associé s'appelle Karim
Karim s'occupe des devis
Elle est allergique au pollen
Le chat s'appelle Gaudi
Camille lit des romans japonais
Elle rêve d'un voyage au Pérou
Les clients de la gare viennent de Lille
Camille boit du thé vert
Elle a perdu son écharpe à l'opéra
Son frère construit des guitares
Elle chante dans une chorale
Le propriétaire augmente le loyer en janvier
Camille tutoie tout le monde
Sa voiture est en panne
Elle dort mal quand il fait chaud
Le dentiste est le 4 mars
Elle garde les croquis dans un carnet noir
? Où habite Camille => 1
? Quel instrument apprend Jules => 6
? Comment s'appelle le chat => 17
? Qui s'occupe des devis => 15
? Quand le toit sera-t-il fini => 11
? Que rénove le cabinet => 3
? Quel train prend-elle => 9
? Où a-t-elle perdu son écharpe => 22
? Que fait son frère => 23
? À quoi est-elle allergique => 16
? Quels romans lit-elle => 18
? Quand est le rendez-vous chez le dentiste => 29
? Où sont les croquis => 30
? D'où viennent les clients => 20
? De quel voyage rêve-t-elle => 19`,
  `Mateo vive en Valencia con su abuela
Trabaja en una tienda de bicicletas
Es alérgico a la penicilina
Su equipo favorito es el Levante
Mateo estudia italiano por las noches
La abuela cocina paella los domingos
Tiene una moto azul
El perro se llama Trueno
Mateo prefiere respuestas breves
Quiere abrir un taller propio
Ahorra doscientos euros al mes
Su novia Inés es enfermera
Inés trabaja de noche
Mateo toca la batería en un grupo
El grupo ensaya los miércoles
El examen de italiano es en junio
Perdió el pasaporte en Lisboa
Le gustan las películas de terror
Su hermano vive en Chile
Mateo desayuna tostadas con tomate
El alquiler vence el día cinco
La bicicleta de carreras pesa siete kilos
Mateo corre en la playa
No soporta el ruido
Su médico es el doctor Vidal
El proveedor de ruedas está en Bilbao
Mateo colecciona vinilos
La lavadora está rota
Sueña con cruzar los Pirineos en bicicleta
La contraseña del taller la guarda Inés
? Dónde vive Mateo => 1
? Cómo se llama el perro => 8
? A qué medicamento es alérgico => 3
? Cuándo ensaya el grupo => 15
? Qué instrumento toca => 14
? Dónde perdió el pasaporte => 17
? Qué colecciona => 27
? Cuándo es el examen => 16
? Qué cocina la abuela => 6
? Dónde vive su hermano => 19
? Cuánto ahorra => 11
? De dónde vienen las ruedas => 26
? Qué está roto en casa => 28
? Quién es su médico => 25
? Qué idioma estudia => 5`,
  `小林住在杭州的西湖边
小林是一名小学老师
她每天早上喝豆浆
她养了一只叫团子的猫
她对花生过敏
她的丈夫在医院工作
她喜欢拍照
相机是去年生日买的
她周末去爬山
她正在学习法语
她的妈妈住在成都
她不吃香菜
班里有四十个学生
她打算明年去巴黎
她弹古筝
古筝老师姓陈
她的电脑坏了
她喜欢看科幻小说
她最好的朋友叫阿梅
阿梅开了一家花店
她晚上十点睡觉
她的自行车是绿色的
她害怕打雷
她帮邻居照顾盆栽
学校春天有运动会
她希望回答简短一些
她的眼镜摔坏了
她喜欢吃火锅
她每月给妈妈寄茶叶
她在写一本童话书
? 小林住在哪里 => 1
? 猫叫什么名字 => 4
? 她对什么过敏 => 5
? 她丈夫在哪里工作 => 6
? 她在学什么语言 => 10
? 花店是谁开的 => 20
? 她弹什么乐器 => 15
? 古筝老师是谁 => 16
? 运动会什么时候 => 25
? 她明年去哪里 => 14
? 她的妈妈在哪个城市 => 11
? 自行车是什么颜色 => 22
? 什么东西坏了 => 17 27
? 她在写什么书 => 30
? 她喜欢看什么小说 => 18`,
  `田中さんは札幌に住んでいます
仕事は図書館の司書です
犬の名前はハチです
毎朝ラジオ体操をします
卵アレルギーがあります
娘は大学で建築を学んでいます
冬はスキーに行きます
車は白い軽自動車です
好きな食べ物は味噌ラーメンです
金曜日は英会話教室があります
先生はカナダ人です
古い切手を集めています
妻は陶芸家です
妻の展覧会は十月にあります
膝が痛いので階段を避けます
図書館は月曜日が休みです
ピアノを習い始めました
庭でトマトを育てています
電話よりメールを好みます
息子は東京で働いています
夜は推理小説を読みます
コーヒーは飲みません
去年の夏に沖縄へ旅行しました
眼鏡を新しくしました
町内会の会計を担当しています
短い返事が好きです
時計は父の形見です
屋根の雪下ろしを業者に頼みます
猫は苦手です
来年定年退職します
? 田中さんはどこに住んでいますか => 1
? 犬の名前は何ですか => 3
? 何のアレルギーがありますか => 5
? 娘は大学で何を学んでいますか => 6
? 何を集めていますか => 12
? 妻の展覧会はいつですか => 14
? 図書館の休みはいつですか => 16
? 庭で何を育てていますか => 18
? 息子はどこで働いていますか => 20
? 夏にどこへ旅行しましたか => 23
? 英会話教室は何曜日ですか => 10
? 時計は誰の形見ですか => 27
? 夜は何を読みますか => 21
? いつ退職しますか => 30
? 好きな食べ物は何ですか => 9`,
  `Анна живёт в Казани
Анна работает фармацевтом
Её кота зовут Барсик
Анна учит татарский язык
У Анны аллергия на мёд
Дача находится у Волги
Giulia abita a Bologna
Giulia insegna matematica
Il cane di Giulia si chiama Fermat
Giulia suona il violoncello
La macchina di Giulia è dal meccanico
Giulia odia il coriandolo
João mora no Recife
João é mergulhador profissional
O barco de João chama-se Maré
João tem medo de altura
A irmã de João vive em Coimbra
João coleciona conchas
민수는 부산에 산다
민수는 요리사로 일한다
민수의 강아지 이름은 콩이다
민수는 새우 알레르기가 있다
민수는 주말에 등산을 간다
민수의 여동생은 간호사이다
Aisyah tinggal di Melaka
Aisyah bekerja sebagai jururawat
Kucing Aisyah bernama Comel
Aisyah suka makan durian
Aisyah belajar bahasa Jepun
Kereta Aisyah berwarna merah
? Где живёт Анна => 1
? Как зовут кота => 3
? Какой язык учит Анна => 4
? Где находится дача => 6
? Dove abita Giulia => 7
? Che strumento suona Giulia => 10
? Come si chiama il cane => 9
? Onde mora João => 13
? Como se chama o barco => 15
? O que João coleciona => 18
? 민수는 어디에 사나 => 19
? 강아지 이름은 무엇인가 => 21
? Di mana Aisyah tinggal => 25
? Apa nama kucing Aisyah => 27
? Apa warna kereta => 30`,
];

export interface Person {
  readonly memories: readonly string[];
  readonly questions: readonly { readonly question: string; readonly answers: readonly string[] }[];
}

export const people: readonly Person[] = table.map((text) => {
  const lines = text.split('\n');
  const memories = lines.filter((line) => !line.startsWith('? '));
  const questions = lines
    .filter((line) => line.startsWith('? '))
    .map((line) => {
      const [question = '', numbers = ''] = line.slice(2).split(' => ');
      return {
        question,
        answers: numbers
          .trim()
          .split(' ')
          .map((number) => memories[Number(number) - 1] ?? ''),
      };
    });
  return { memories, questions };
});
