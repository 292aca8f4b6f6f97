/** The half that weights are tuned on; see `meaning.fixture.ts` for the format. */
export const tuned = `
# Nora, en
I draw picture books for kids between four and seven
p What do I do for a living?
x Was bin ich von Beruf?
My publisher is Willow & Pine in Edinburgh
s Who is my publisher?
p Which company prints my stories?
My dog Biscuit is a three-legged greyhound
p What pet do I have?
x ¿Cómo se llama mi perro?
I can't stand neon colors in my work
p Which shades should you avoid?
s Should you use neon in my cover?
All final art goes out as TIFF at 600 dpi
s What dpi do I need for final art?
p In which file format should the pictures be saved?
I was born in Galway and grew up there
p What is my hometown?
x 私の出身地はどこですか
I moved to Lisbon last spring
s When did I move to Lisbon?
p Where do I live now?
My deadline for the hedgehog book is the 14th of March
s What is the deadline of the hedgehog book?
p By which date must I deliver the manuscript?
I'm allergic to shellfish
s What am I allergic to?
p Is there anything I must not eat?
x À quoi suis-je allergique ?
My sister Orla does the lettering
s Who does the lettering?
p Which relative helps me with the typography?
I work best early in the morning, before six
p At what time of day am I most productive?
Call me Nono, everybody does
p What nickname should you use for me?
I sketch with a 2B pencil and ink with a dip pen
s Which pencil do I sketch with?
p What drawing tools do I use?
I have two sons, Finn and Tadhg
p What are the names of my children?
x Сколько у меня детей?
The villain in my book is a magpie called Mister Sharp
s Who is the villain?
p What is the bad guy called?
Please keep answers under five sentences
p How long should your replies be?
x Wie lang sollen deine Antworten sein?
I used to be a nurse before I started illustrating
s What was I before illustrating?
p What was my previous career?
I play the cello in an amateur orchestra on Wednesdays
s When does my orchestra meet?
p Which musical instrument do I know?
My favourite illustrator is Jon Klassen
s Who is my favourite illustrator?
p Which artist inspires me most?
I'm saving up for an etching press
p What do I want to buy?
We use a warm palette: ochre, rust and cream
s What is in our palette?
p Which tones fit our style?
x 我们用哪些颜色？
I don't drive, I take the tram everywhere
p How do I get around town?
x Wie komme ich zur Arbeit?
I broke my wrist in January and still wear a brace
s What happened to my wrist?
p Do I have any injury?
My studio is above a bakery
s Where is my studio?
p What is below my workplace?
The budget for the poster is 800 euros
s What is the budget for the poster?
p How much money can we spend?
x ¿Cuánto dinero tenemos para el cartel?
Never put text inside the images
s Should there be text in the images?
p May you add words to the pictures?

# Jonas, de
Ich fotografiere vor allem Schmuck und Uhren
s Welchen Schmuck fotografiere ich?
p Was für Aufnahmen mache ich beruflich?
x What kind of products do I photograph?
Mein Makroobjektiv ist ein 100 mm von Canon
f Welches Objektiv habe ich?
x Which lens do I own?
Die Weihnachtskampagne startet am 15. November
f Wann beginnt die Kampagne?
x When does the Christmas campaign start?
Das Logo kommt immer unten rechts hin
s Wo kommt das Logo hin?
x Where should I place the logo?
Ich wohne mit meiner Freundin in Leipzig
p In welcher Stadt lebe ich?
x Where do I live?
Meine Katze heißt Frau Schmidt
s Wie heißt meine Katze?
p Welches Haustier habe ich?
Bilder bitte immer als PNG ohne Hintergrund
s Wie sollen die Bilder sein?
p In welchem Dateiformat möchte ich die Fotos?
Ich trinke keinen Kaffee, nur grünen Tee
s Trinke ich Kaffee?
p Was ist mein Lieblingsgetränk?
Mein größter Kunde ist der Juwelier Hartmann
s Wer ist mein größter Kunde?
p Für wen arbeite ich am meisten?
x Who is my most important client?
Ich habe Höhenangst
f Habe ich Angst?
p Wovor fürchte ich mich?
Am Wochenende gehe ich klettern
p Welchen Sport treibe ich?
x What do I do in my free time?
Meine Lieblingsmalerin ist Gabriele Münter
f Welche Malerin mag ich?
p Welche Künstlerin verehre ich?
Schreib mir bitte ohne Emojis
s Soll ich Emojis verwenden?
x Do I like smileys in messages?
Mein Bruder Felix macht die Buchhaltung
s Wer macht die Buchhaltung?
p Wer kümmert sich um die Rechnungen?
Ich bin Vegetarier
p Esse ich Fleisch?
x Do I eat meat?
Das Studio liegt in einer alten Fabrikhalle
f Liegt das Studio in einer Fabrik?
p Wo arbeite ich?
Für die Frühjahrskollektion sind 3000 Euro eingeplant
f Was ist für die Kollektion geplant?
p Wie hoch ist das Budget?
Ich spreche fließend Portugiesisch
s Spreche ich Portugiesisch?
p Welche Fremdsprache kann ich?
Meine Kamera ist eine Nikon Z8
s Welche Kamera habe ich?
p Womit mache ich meine Bilder?
Ich mag weiches Licht von der Seite
s Welches Licht mag ich?
p Wie soll die Beleuchtung sein?
x How should the scene be lit?
Im August bin ich drei Wochen im Urlaub
s Wann bin ich im Urlaub?
p Wann bin ich nicht erreichbar?
Mein Opa war Goldschmied
s Was war mein Opa?
p Welchen Beruf hatte mein Großvater?
Ich brauche die Entwürfe jeden Freitagmittag
f Brauche ich die Entwürfe am Freitag?
p Bis wann müssen die Skizzen fertig sein?
Körnung finde ich schrecklich
s Wie finde ich Körnung?
p Soll das Foto verrauscht aussehen?
Meine Tochter Mia wird im Mai sechs
s Wie alt wird Mia?
x How old is my child?
Ich höre beim Arbeiten am liebsten Jazz
s Was höre ich beim Arbeiten?
p Welche Musik gefällt mir?
x Какую музыку я люблю?

# Lucía, es
Tengo una panadería en Valencia con mi marido
s ¿Dónde está mi panadería?
p ¿Qué negocio llevo?
x What business do I run?
Mi hija Carmen estudia medicina en Granada
s ¿Qué estudia Carmen?
p ¿Quién de mi familia va a la universidad?
No me gusta que me hablen de usted
s ¿Me gusta que me hables de usted?
p ¿Cómo debes tratarme?
El horno se rompió y llega uno nuevo en junio
s ¿Cuándo llega el horno nuevo?
x What equipment broke?
Soy celíaca
p ¿Puedo comer trigo?
x Do I have a disease or food intolerance?
Mi color preferido es el azul marino
s ¿Cuál es mi color preferido?
x What is my favorite color?
Los lunes cerramos
s ¿Qué días cerramos?
p ¿Cuándo está la tienda sin abrir?
Necesito carteles en formato A3 vertical
s ¿En qué formato necesito los carteles?
x What size should the posters be?
Mi madre vive sola y la visito los domingos
s ¿Cuándo visito a mi madre?
x When do I see my parents?
Aprendí a tocar la guitarra de niña
s ¿Sé tocar la guitarra?
p ¿Qué instrumento musical domino?
x Which musical instrument can I play?
Prefiero fotos realistas, nada de dibujos
s ¿Prefiero fotos o dibujos?
x Do I want photographs or illustrations?
Nuestro pan más vendido es el de centeno
s ¿Cuál es nuestro pan más vendido?
p ¿Qué producto tiene más éxito?
Me da miedo volar en avión
s ¿Qué me da miedo?
p ¿Cómo me siento cuando viajo por el aire?
x Am I scared of anything?
El logotipo lleva una espiga dorada
s ¿Qué lleva el logotipo?
x What is shown in our logo?
Mi perro se llama Churro
s ¿Cómo se llama mi perro?
p ¿Tengo alguna mascota?
x Wie heißt mein Hund?
Corro diez kilómetros tres veces por semana
s ¿Cuántos kilómetros corro?
p ¿Hago algún deporte?
Mi cumpleaños es el 3 de octubre
s ¿Cuándo es mi cumpleaños?
p ¿En qué fecha nací?
x When was I born?
Publicamos en Instagram cada mañana a las ocho
s ¿Cuándo publicamos en Instagram?
x At what time do we post on social media?
Estoy ahorrando para ir a Japón
s ¿Para qué estoy ahorrando?
p ¿A qué país sueño con viajar?
La receta de la empanada es de mi abuela gallega
s ¿De quién es la receta de la empanada?
x Who taught me that dish?
Contesta siempre en español, aunque escriba en inglés
s ¿Debes contestar en español?
p ¿Qué idioma hay que usar conmigo?
x Which language should you use?
Mi socio Andrés lleva las cuentas
s ¿Quién lleva las cuentas?
p ¿Quién se ocupa del dinero?
No uses mayúsculas en los títulos
s ¿Uso mayúsculas en los títulos?
x Should headlines be in capital letters?
Odio el cilantro
p ¿Qué hierba no soporto?
x Which food do I hate?
El reparto sale a las seis de la mañana
s ¿A qué hora sale el reparto?
p ¿Cuándo se lleva la mercancía a los clientes?
Estudié bellas artes antes de ser panadera
s ¿Qué estudié?
x What is my education?

# Yuki, ja
少女漫画を描いています
s どんな漫画を描いていますか
p 私の仕事は何ですか
x What kind of comics do I make?
大阪に住んでいます
s どこに住んでいますか
x Where do I live?
猫を二匹飼っています
s 猫は何匹いますか
p どんなペットがいますか
x Do I have any pets?
締め切りは毎月二十日です
s 締め切りはいつですか
x When is my deadline?
背景はアシスタントの田中さんが描きます
s 背景は誰が描きますか
p 誰が私を手伝っていますか
エビのアレルギーがあります
s 何のアレルギーがありますか
p 食べてはいけないものは何ですか
x What can't I eat?
主人公の髪は銀色です
s 主人公の髪は何色ですか
x What does the main character look like?
返事は敬語でお願いします
s 敬語を使うべきですか
p どんな話し方をすればいいですか
水彩の淡い色が好きです
s どんな色が好きですか
x Which painting style do I like?
血や怖い場面は描かないでください
s 怖い場面を描いてもいいですか
x Are horror scenes allowed?
姉は看護師です
s 姉の仕事は何ですか
x What does my sister do?
毎朝公園を走っています
s 毎朝何をしていますか
p 健康のために何をしていますか
x How do I keep fit?
好きな食べ物はカレーうどんです
s 好きな食べ物は何ですか
x What is my favourite dish?
夜型なので昼まで寝ています
p 私は朝早く起きますか
x When do I get up?
デビュー作は「星のしずく」です
s デビュー作は何ですか
p 最初に出した本の題名は？
父は北海道で牧場をやっています
s 父は何をしていますか
x What do my parents do?
来年フランスで個展を開きます
s 個展はいつですか
x Where is my exhibition?
車の免許を持っていません
s 免許を持っていますか
p 私は運転できますか
原稿はクリップスタジオで仕上げます
s 原稿は何で仕上げますか
p どのソフトを使っていますか
コーヒーは飲めません
s コーヒーを飲みますか
x What drink do I avoid?
ピアノを習い始めました
s 何を習い始めましたか
p どの楽器を練習していますか
x What instrument am I learning?
画像は縦長で作ってください
s 画像は縦長ですか
x Which orientation should images have?
編集者は佐藤さんです
s 編集者は誰ですか
x Who is my editor?
英語は少ししか話せません
s 英語を話せますか
x How good is my English?
誕生日は七月七日です
s 誕生日はいつですか
x What is my date of birth?
満員電車が苦手です
s 何が苦手ですか
p どんな乗り物が嫌いですか

# Oleg and Zofia, ru pl
Я работаю программистом в банке
s Кем я работаю?
p Какая у меня профессия?
x What is my job?
Живу в Новосибирске с женой и двумя детьми
s Где я живу?
x Which city am I from?
Мою кошку зовут Муся
s Как зовут мою кошку?
p Какое у меня домашнее животное?
x What is the name of my pet?
Не присылай мне сообщения после десяти вечера
s Когда не присылать мне сообщения?
p До какого часа меня можно беспокоить?
Я не ем свинину
s Ем ли я свинину?
p Какое мясо мне нельзя?
x Which food is forbidden for me?
По субботам играю в шахматы в клубе
s Где я играю в шахматы?
p Какое у меня хобби?
x What is my hobby?
Мой начальник — Виктор Андреевич
s Кто мой начальник?
p Перед кем я отчитываюсь?
x Who is my boss?
Учусь играть на аккордеоне
s На чём я учусь играть?
p Каким музыкальным инструментом я занимаюсь?
Обращайся ко мне на «ты»
p Как ко мне следует говорить, официально или нет?
Моя машина — старая «Волга»
s Какая у меня машина?
p На чём я езжу?
x What car do I drive?
Отпуск у меня в сентябре
s Когда у меня отпуск?
p В каком месяце я отдыхаю?
Люблю фантастику, особенно Стругацких
s Люблю ли я фантастику?
p Какие книги мне нравятся?
x What do I like to read?
Ненавижу грибы
x What food can't I stand?
Картинки делай в чёрно-белом стиле
s В каком стиле делать картинки?
x Should the pictures be in color?
Mam na imię Zofia i jestem architektką
s Jak mam na imię?
p Czym się zajmuję zawodowo?
x What is my profession?
Projektuję domy z drewna
s Jakie domy projektuję?
x What do I design?
Moja córka chodzi do przedszkola
s Gdzie chodzi moja córka?
x Do I have children?
Jestem uczulona na orzechy
s Na co jestem uczulona?
p Czego nie mogę jeść?
x What am I allergic to?
Najchętniej pracuję nocą
s Kiedy najchętniej pracuję?
x When do I prefer to work?
Mój ulubiony kolor to butelkowa zieleń
s Jaki jest mój ulubiony kolor?
x Which colour do I love?
W weekendy jeżdżę na rowerze po górach
s Gdzie jeżdżę na rowerze?
p Jaki sport uprawiam?
Mój mąż jest kucharzem w hotelu
s Gdzie pracuje mój mąż?
x What does my husband do?
Biuro mamy na czwartym piętrze
s Na którym piętrze jest biuro?
x Where is the office?
Termin oddania projektu mija w piątek
s Kiedy mija termin projektu?
p Do kiedy muszę skończyć pracę?
x When is the project due?
Piję tylko herbatę z cytryną
s Co piję?
x What do I drink?
Boję się pająków
s Czego się boję?
x What frightens me?

# Many voices, ar nl hi sv th vi
أعمل طبيبة أسنان في عمّان
s أين أعمل طبيبة؟
x What is my job?
أحب الثعالب كثيرا
f هل أحب الثعلب؟
x Which animal do I like?
عميلي الأهم هو فندق البحر
f من هو العميل الأهم؟
x Who is my main client?
لا آكل اللحم
s هل آكل اللحم؟
x Am I a vegetarian?
عندي ثلاثة أولاد
s كم عندي من أولاد؟
x How many children do I have?
أسكن قرب المكتبة القديمة
f هل أسكن قرب مكتبة؟
x Where do I live?
Ik heb een eigen fietsenwinkel in Utrecht
s Waar is mijn fietsenwinkel?
f Waar is mijn winkel?
x What shop do I own?
Mijn vriendin is zwanger van een meisje
s Is mijn vriendin zwanger?
x Are we expecting a baby?
Ik hou niet van lange e-mails
s Hou ik van lange e-mails?
x How should messages to me be written?
Onze kat is zestien jaar oud
s Hoe oud is onze kat?
x How old is my pet?
In de winter ga ik schaatsen
s Wanneer ga ik schaatsen?
x Which sport do I do?
मैं जयपुर में कपड़ों की दुकान चलाता हूँ
s मेरी कपड़ों की दुकान कहाँ है?
x What do I sell?
मुझे मसालेदार खाना पसंद नहीं है
s मुझे कैसा खाना पसंद नहीं है?
x Do I like spicy food?
मेरी बेटी कथक सीख रही है
s मेरी बेटी क्या सीख रही है?
x What does my daughter learn?
दिवाली पर मैं गाँव जाता हूँ
s दिवाली पर मैं कहाँ जाता हूँ?
x Where do I spend the holidays?
Jag bor på en ö utanför Göteborg
s Var bor jag?
x Where is my home?
Min son spelar trummor
s Vad spelar min son?
x Who in my family plays an instrument?
Jag tål inte mjölk
s Tål jag mjölk?
x Which drink makes me ill?
Vi bygger en segelbåt i garaget
f Bygger vi en båt?
x What are we building?
ฉันเป็นครูสอนภาษาอังกฤษ
s ฉันสอนภาษาอะไร
x What is my occupation?
ฉันเลี้ยงหมาพันธุ์ชิบะ
s ฉันเลี้ยงหมาพันธุ์อะไร
x What dog do I have?
ฉันกลัวความสูง
s ฉันกลัวอะไร
x What am I afraid of?
Tôi là đầu bếp ở Đà Nẵng
s Tôi là đầu bếp ở đâu?
x What do I do for work?
Vợ tôi đang học tiếng Nhật
s Vợ tôi đang học gì?
x Which language is my wife learning?
Tôi thích màu tím
s Tôi thích màu gì?
x What is my favorite color?
Con trai tôi bị hen suyễn
s Con trai tôi bị bệnh gì?
x Is my son healthy?
`;
