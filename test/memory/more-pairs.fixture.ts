/**
 * More pairs. `same`: the same fact, however it is worded; a lexical embedder finds part of them. `different`: never one
 * memory.
 */
const table = {
  same: `
My dog is called Biscuit | my dog is called biscuit.
I work from home on Fridays | I work from home on fridays!
The user lives in Cardiff | User lives in Cardiff
The user works as a plumber | I work as a plumber
The user prefers tea | I prefer tea
The user does not drink alcohol | I don't drink alcohol
The user's birthday is 3 May | The user's birthday is 3 May.
I can't eat gluten | I cannot eat gluten
I've lived in Ghent for 10 years | I have lived in Ghent for ten years
We're moving to Malmö next spring | We are moving to Malmö next spring
Please answer in short sentences | Answer in short sentences
Always use metric units, please | Always use metric units
I am a very light sleeper | I am a light sleeper
Hi, my name is Tomas | My name is Tomas
I own three guitars | I own 3 guitars
My office is on the fifth floor of the old mill | my office is on the fifth floor of the old mill
The project deadline is Friday 12 June | The project deadline is Friday, 12 June
My favourite author is Ursula Le Guin | My favourite author is Ursula Le Guin!!
I take my coffee black | I take my coffee black, thanks
My daughter Nora goes to the music school in Arnhem | My daughter Nora also goes to the music school in Arnhem
I have a meeting with the bank every first Monday of the month | I have a meeting with the bank every first monday of the month
I would like pictures in a warm watercolour style | I would really like pictures in a warm watercolour style
Ich wohne in Leipzig | ich wohne in Leipzig.
Ich bin Vegetarier | Ich bin Vegetarier!
Bitte antworte immer auf Deutsch | Antworte immer auf Deutsch
Mein Hund heißt Bello | Mein Hund heißt bello
Ich arbeite seit fünf Jahren bei der Stadtbibliothek | Ich arbeite seit 5 Jahren bei der Stadtbibliothek
Ich höre beim Kochen am liebsten alte Jazzplatten | Ich höre beim Kochen wirklich am liebsten alte Jazzplatten
Je suis végétarienne | je suis végétarienne !
Mon chat s'appelle Félix | Mon chat s'appelle Felix
Je préfère le thé vert | Je préfère vraiment le thé vert
J'ai cinq poules | J'ai 5 poules
Réponds toujours en français | réponds toujours en français.
Soy alérgico al polen | soy alérgico al polen.
Mi perro se llama Luna | Mi perro se llama Luna!
Tengo cuatro gatos | Tengo 4 gatos
Prefiero respuestas cortas | Prefiero respuestas muy cortas
Sono allergico alle noci | sono allergico alle noci!
Ho tre figli | Ho 3 figli
Lavoro in banca da dieci anni | Lavoro in banca da 10 anni
Moro em Lisboa | moro em Lisboa.
Tenho quatro irmãos | Tenho 4 irmãos
Sou alérgico a camarão | Sou alérgico a camarão!
Saya tinggal di Pulau Pinang | saya tinggal di Pulau Pinang.
Saya ada tiga anak | Saya ada 3 anak
Я живу в Твери | я живу в Твери.
У меня три кота | У меня 3 кота
Мне очень нравится джаз | Мне нравится джаз
我住在成都 | 我住在成都。
我是一名老师 | 我是一名老师！
我有两个孩子 | 我有2个孩子
用户住在上海 | 我住在上海
我對花生過敏 | 我對花生過敏。
私は大阪に住んでいます | 私は大阪に住んでいます。
犬を三匹飼っています | 犬を3匹飼っています
저는 커피를 마셔요 | 저는 커피를 마셔요.
저는 고양이 두 마리를 키워요 | 저는 고양이 2 마리를 키워요
I love sushi | Sushi is my favourite food
I am from Ghana | I grew up in Ghana
My wife is a pilot | My wife flies planes for a living
I do yoga every morning | Every morning I do yoga
I dislike loud music | I can't stand loud music
Meetings should be short | Keep meetings short
Ich fahre gern Rad | Ich bin gern mit dem Fahrrad unterwegs
Je déteste les olives | Je n'aime pas du tout les olives
Me encanta bailar | Bailar me encanta
Я не ем мясо | Я вегетарианец
我喜欢爬山 | 爬山是我的爱好
I have two brothers | I have 2 brothers
I was born in Leeds in 1990 | In 1990 I was born in Leeds
My sister's name is Ruth | Ruth is my sister's name
On Sundays I bake bread | I bake bread on Sundays
I like jazz and blues | I like blues and jazz
I'm left-handed | I am left handed
I work from home on Fridays. | On Fridays I work from home
The user lives in Bristol | I live in Bristol
I do not eat pork | I don't eat pork
My car is a red Fiat | my car is a red fiat!
I've been vegan for three years | I have been vegan for 3 years
Please always use the metric system | Always use the metric system please
My favourite book is Dune | My favorite book is Dune
My favourite book is Dune | Dune is my favourite book
I play the violin every evening | Every evening I play the violin
Ich trinke morgens Kaffee | Morgens trinke ich Kaffee
Meine Katze heißt Momo | meine Katze heisst Momo
Ich habe drei Kinder | Ich habe 3 Kinder
Am Wochenende fahre ich Rad | Ich fahre am Wochenende Rad
Mein Lieblingsfilm ist Alien | Alien ist mein Lieblingsfilm
Tengo dos hijas | Tengo 2 hijas
Los lunes voy al gimnasio | Voy al gimnasio los lunes
Mi color favorito es el verde | El verde es mi color favorito
Me gusta el café sin azúcar | me gusta el cafe sin azucar
J'ai trois chats | J'ai 3 chats
Le dimanche je cours au parc | Je cours au parc le dimanche
Mon plat préféré est la ratatouille | La ratatouille est mon plat préféré
Ho due figli | Ho 2 figli
Il mio cane si chiama Argo | Argo si chiama il mio cane
Eu moro em Recife | Moro em Recife
Tenho dois gatos | Tenho 2 gatos
Я живу в Казани | Живу в Казани
У меня две собаки | У меня 2 собаки
По утрам я пью чай | Я пью чай по утрам
我有两只猫 | 我有2只猫
我喜歡喝茶 | 我喜欢喝茶
私は猫が二匹います | 私は猫が2匹います
毎朝コーヒーを飲みます | コーヒーを毎朝飲みます
저는 서울에 살아요 | 나는 서울에 살아요
Saya ada dua ekor kucing | Saya ada 2 ekor kucing
`,
  different: `
I keep the spare key under the blue flower pot | I keep the spare key under the big blue flower pot
I broke my arm while skating in Davos last winter | I broke my left arm while skating in Davos last winter
Our team uses Linear for planning and Notion for notes | Our team uses Linear for planning and Notion for meeting notes
The red car belongs to my aunt Helga in Bremen | The old red car belongs to my aunt Helga in Bremen
I usually write code in Python with type hints and tests | I usually write code in Python with type hints and unit tests
I own a house | I do not own a house
I know how to drive | I don't know how to drive
My knee hurts | My knee doesn't hurt anymore
She is my manager | She is not my manager
I want reminders | I want no reminders
I work at night | I never work at night
Someone feeds the cat | Nobody feeds the cat
I travel with my dog | I travel without my dog
My son goes to school | My son doesn't go to school
I will attend the wedding | I won't attend the wedding
The invoice is paid | The invoice isn't paid
The shop opens at 9 | The shop opens at 10
I weigh 70 kg | I weigh 75 kg
I have five chickens | I have six chickens
The flat has 3 rooms | The flat has four rooms
Version 2.1 is stable | Version 2.2 is stable
My PIN ends in 12 | My PIN ends in 21
The bus leaves at 8:15 | The bus leaves at 8:45
I was born in 1987 | I was born in 1978
The rent is 900 euros | The rent is 950 euros
I pay twice a month | I pay once a month
Choir is on Wednesday | Choir is on Thursday
My exam is in June | My exam is in July
We leave tomorrow | We leave today
The party is on 3 October | The party is on 4 October
Tom owes Jerry money | Jerry owes Tom money
I lent Paul my bike | Paul lent me his bike
The teacher praised the student | The student praised the teacher
My mother visits my aunt | My aunt visits my mother
I report to Clara | Clara reports to me
He invited her | She invited him
We moved from Lyon to Nantes | We moved from Nantes to Lyon
Blue is better than green | Green is better than blue
Anna is Ben's boss | Ben is Anna's boss
I love my sister but not my cousin | I love my cousin but not my sister
I live in Bristol | I live in Bath
I work for Nokia | I worked for Nokia
I drive a Volvo | I drive a Skoda
My favourite fruit is mango | My favourite fruit is papaya
I am learning Dutch | I am learning Danish
My cat is black | My cat is white
I like my coffee hot | I like my coffee cold
I'm married | I'm divorced
I play the flute | I play the drums
My brother is a vet | My sister is a vet
I prefer email | I prefer phone calls
Use tabs | Use spaces
The key is under the mat | The key is on the mat
I eat before training | I eat after training
Hello there | Good night
How are you? | Fine, thanks
Bye | See you later
Yes | No
ok | okay not
I love you | You love me
Ich trinke Kaffee | Ich trinke keinen Kaffee
Ich habe einen Bruder | Ich habe zwei Brüder
Der Termin ist im Mai | Der Termin ist im Juni
Ich wohne in Kiel | Ich wohne in Jena
Paul hilft Anna | Anna hilft Paul
Ich reise mit Hund | Ich reise ohne Hund
Je mange de la viande | Je ne mange jamais de viande
J'ai un chien | J'ai deux chiens
Le cours est jeudi | Le cours est vendredi
Paul aide Marie | Marie aide Paul
Je vis à Lille | Je vis à Metz
Bebo alcohol | No bebo alcohol
Tengo seis primos | Tengo siete primos
La boda es en mayo | La boda es en junio
Juan llama a Pedro | Pedro llama a Juan
Vivo en Cádiz | Vivo en Jaén
Mangio carne | Non mangio carne
Ho quattro gatti | Ho cinque gatti
Il corso è martedì | Il corso è giovedì
Luca chiama Marta | Marta chiama Luca
Como carne | Não como carne
Tenho seis primos | Tenho sete primos
A reunião é em março | A reunião é em abril
Ana ajuda Rui | Rui ajuda Ana
Saya makan daging | Saya tidak makan daging
Saya ada empat adik | Saya ada lima adik
Kelas pada hari Rabu | Kelas pada hari Khamis
Ali tolong Abu | Abu tolong Ali
Я пью молоко | Я не пью молоко
У меня пять братьев | У меня шесть братьев
Экзамен в июне | Экзамен в июле
Маша любит Петю | Петя любит Машу
我吃辣 | 我不吃辣
我有五个朋友 | 我有六个朋友
考试在星期三 | 考试在星期四
小王帮助小李 | 小李帮助小王
我会游泳 | 我不会游泳
我有養狗 | 我沒有養狗
お酒を飲みます | お酒を飲みません
車を二台持っています | 車を三台持っています
試験は水曜日です | 試験は木曜日です
太郎は花子を助けた | 花子は太郎を助けた
나는 고기를 먹는다 | 나는 고기를 먹지 않는다
나는 책 다섯 권이 있다 | 나는 책 여섯 권이 있다
시험은 수요일에 있다 | 시험은 목요일에 있다
철수가 영희를 도왔다 | 영희가 철수를 도왔다
I will quit my job | I quit my job
I am applying to Oxford | I applied to Oxford
I was accepted at Oxford | I was rejected at Oxford
I plan to adopt a dog | I adopted a dog
I want to learn Greek | I learned Greek
I used to live in Prague | I live in Prague
I am about to sell my house | I have sold my house
I am scared of dogs | I am scared of dog owners
I like tea with milk | I like tea without milk
I collect stamps | I collect stamp albums
My brother teaches Anna | Anna teaches my brother
I lent Tom my bike | Tom lent me his bike
I gave up smoking | I took up smoking
My exam is on 3 May | My exam is on 4 May
I wake up at 6 | I wake up at 7
My son is called Ben | My daughter is called Ben
I live with Anna | I live with Hanna
I have never been to Rome | I have been to Rome
I hardly ever drink wine | I drink wine
I failed the driving test | I passed the driving test
I am engaged to Paul | I am married to Paul
I am selling my flute | I am buying a flute
I moved from Oslo to Bergen | I moved from Bergen to Oslo
I prefer cats to dogs | I prefer dogs to cats
The deadline is next week | The deadline is this week
I paid 30 euros | I paid 30 dollars
I run 5 km | I run 5 miles
I broke my left arm | I broke my right arm
I started therapy | I finished therapy
I hope to get the grant | I got the grant
I might move to Lima | I moved to Lima
I almost bought a boat | I bought a boat
I am waiting for my visa | I have my visa
I like the old logo | I like the new logo
Use serif fonts in titles | Use sans-serif fonts in titles
I can swim | I can't swim
I should stop eating sugar | I stopped eating sugar
I have to call Eva | I called Eva
Ich werde mein Auto verkaufen | Ich habe mein Auto verkauft
Ich will Spanisch lernen | Ich habe Spanisch gelernt
Ich suche eine Wohnung | Ich habe eine Wohnung gefunden
Ich mag Kaffee mit Zucker | Ich mag Kaffee ohne Zucker
Meine Prüfung ist am Montag | Meine Prüfung ist am Dienstag
Ich bin gegen Katzen allergisch | Ich bin gegen Katzenfutter allergisch
Ich ziehe nach Köln | Ich bin nach Köln gezogen
Mein Bruder hilft Lena | Lena hilft meinem Bruder
Voy a cambiar de trabajo | He cambiado de trabajo
Quiero aprender alemán | Aprendí alemán
Vivía en Lima | Vivo en Lima
Me gusta el té con leche | Me gusta el té sin leche
Busco piso | Encontré piso
Aprobé el examen | Suspendí el examen
Je vais déménager à Lille | J'ai déménagé à Lille
J'habitais à Nice | J'habite à Nice
Je cherche un emploi | J'ai trouvé un emploi
Je veux acheter un vélo | J'ai acheté un vélo
J'aime le thé avec du lait | J'aime le thé sans lait
Sto per vendere la casa | Ho venduto la casa
Voglio imparare il cinese | Ho imparato il cinese
Abitavo a Torino | Abito a Torino
Vou comprar um carro | Comprei um carro
Morava em Natal | Moro em Natal
Passei no exame | Reprovei no exame
Я буду учить китайский | Я выучил китайский
Я ищу работу | Я нашёл работу
Я жил в Омске | Я живу в Омске
Я люблю чай с сахаром | Я люблю чай без сахара
Я хочу купить дом | Я купил дом
我要去东京 | 我去过东京
我在找工作 | 我找到工作了
我想学法语 | 我学过法语
我喜欢加糖的咖啡 | 我喜欢不加糖的咖啡
东京に行きます | 东京に行きました
仕事を探しています | 仕事を見つけました
猫が好きです | 猫が好きでした
引っ越すつもりです | 引っ越しました
저는 이사할 거예요 | 저는 이사했어요
직장을 찾고 있어요 | 직장을 찾았어요
저는 커피를 좋아해요 | 저는 커피를 좋아했어요
Saya akan membeli kereta | Saya sudah membeli kereta
Saya mahu belajar bahasa Jepun | Saya sudah belajar bahasa Jepun
Dulu saya tinggal di Ipoh | Saya tinggal di Ipoh
Saya suka teh dengan susu | Saya suka teh tanpa susu
I told Mia about Leo | I told Leo about Mia
My boss is older than my father | My father is older than my boss
I eat before I train | I train before I eat
My flight is from Oslo | My flight is to Oslo
I take the pills after meals | I take the pills before meals
I have a cat and no dog | I have a dog and no cat
Only I like olives | I only like olives
I love my work | I loved my work
Anna is my boss | I am Anna's boss
I owe Sam money | Sam owes me money
I own a flat in Rome | I rent a flat in Rome
I study medicine | I studied medicine
I was going to study law | I study law
I wish I had a garden | I have a garden
If I had time I would paint | I paint
I tried to quit coffee | I quit coffee
My contract ends in June | My contract starts in June
I need a new laptop | I have a new laptop
I wrote to Eva | Eva wrote to me
`,
};

const split = (lines: string) =>
  lines
    .trim()
    .split('\n')
    .map((line) => line.split(' | ') as [string, string]);

export const samePairs = split(table.same);
export const differentPairs = split(table.different);
