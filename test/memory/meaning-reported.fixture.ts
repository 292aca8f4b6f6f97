/** The half that results are reported on: nothing is tuned on it; see `meaning.fixture.ts` for the format. */
export const reported = `
# Sam, en
I'm building a cozy farming game called Dewdrop
s What is my farming game called?
p Which project am I working on?
x Wie heißt das Spiel, das ich entwickle?
I live on a houseboat in Bristol
s Where is my houseboat?
p What kind of home do I have?
x ¿Dónde vivo?
My cat Pixel only has one eye
s What is special about Pixel?
p Do I have a pet?
x Какое у меня домашнее животное?
The main character is a retired lighthouse keeper
s Who is the main character?
p Who is the hero of the story?
I can't eat anything with gluten
s Can I eat gluten?
p Do I have a dietary restriction?
x グルテンは食べられますか
My girlfriend Priya composes the soundtrack
s Who composes the soundtrack?
p Who writes the music?
x Wer schreibt die Musik?
We launch on Steam on October 9th
s When do we launch on Steam?
p What is the release date?
x ¿Cuándo sale el juego?
Sprites are 32 by 32 pixels, always
s How many pixels are the sprites?
p What size should the characters be drawn in?
Don't use first-person view in any mockup
s Should mockups use first-person view?
p Which camera perspective is forbidden?
I quit my job at a bank to do this
s Where was my old job?
p Where did I work before?
I have a stutter, so I prefer chat to calls
s Do I prefer chat or calls?
p Should we talk on the phone?
x Soll man mich lieber anrufen oder schreiben?
My brother Leo is a firefighter in Leeds
s Where is Leo a firefighter?
p What does my sibling do for a living?
I wake up around noon
s When do I wake up?
p Am I a morning person?
The color scheme is teal and coral
s What is the color scheme?
p Which hues should the interface have?
x 配色是什么？
My laptop is an old ThinkPad running Linux
s What laptop do I have?
p Which computer and operating system do I use?
I'm terrified of wasps
s What am I terrified of?
p Which insects scare me?
x De quoi ai-je peur ?
Money is tight: at most 200 dollars a month for art
s How much money for art?
p What is my budget?
I bake sourdough when I'm stressed
s What do I bake?
p How do I relax?
My grandmother taught me to knit
s Who taught me to knit?
p From which relative did I learn handicrafts?
Reviews of builds happen every Thursday at four
s When are reviews of builds?
p What weekly meeting do we have?
I'd rather you ask than guess
s Do I want you to guess?
p What should you do when something is unclear?
I lost my hearing in the left ear
s Which ear lost its hearing?
p Am I partly deaf?
Our target audience is tired adults
s What is our target audience?
p Who are our customers?
My favorite game ever is Stardew Valley
s What is my favorite game?
p Which title do I admire most?
I volunteer at an animal shelter on Sundays
s Where do I volunteer?
p How do I spend my weekends?
Exports should be WebP, not PNG
s Should exports be WebP or PNG?
p Which image format do I want?

# Camille, fr
Je suis fleuriste à Lyon
s Où suis-je fleuriste ?
p Quel est mon métier ?
x What is my job?
Ma boutique s'appelle « La Pivoine bleue »
s Comment s'appelle ma boutique ?
p Quel est le nom de mon magasin ?
x What is the name of my store?
Mon fils Hugo a neuf ans
s Quel âge a Hugo ?
p Est-ce que j'ai un enfant ?
x How old is my son?
Je déteste les roses rouges
s Est-ce que je déteste les roses ?
p Quelles fleurs je n'aime pas ?
x Which flowers do I dislike?
Tutoie-moi, s'il te plaît
p Faut-il me vouvoyer ?
Les livraisons se font en vélo cargo
s Comment se font les livraisons ?
x How are deliveries made?
Je suis fermée le dimanche et le lundi
s Quand suis-je fermée ?
p Quels jours le magasin n'ouvre-t-il pas ?
x When is the shop closed?
Mon chien est un teckel nommé Saucisse
s Comment est nommé mon chien ?
p Ai-je un animal de compagnie ?
x What breed is my dog?
J'ai une allergie au pollen de bouleau
s À quoi ai-je une allergie ?
x What am I allergic to?
Mon mari est pilote de ligne
s Que fait mon mari, pilote ?
p Quelle est la profession de mon époux ?
x What does my husband do?
Le logo est un bouquet dessiné à l'encre
s Qu'est-ce qui est dessiné sur le logo ?
x What does our logo show?
Je veux des affiches au style Art nouveau
s Quel style pour les affiches ?
x Which style should the posters have?
Réponds toujours brièvement
s Dois-tu répondre brièvement ?
p Quelle longueur doivent avoir tes messages ?
x How long should your answers be?
Nous fêtons les dix ans de la boutique en avril
s Quand fêtons-nous les dix ans ?
p Quel anniversaire approche ?
x When is the anniversary of the business?
Je roule en vieille 2CV
s Est-ce que je roule en 2CV ?
p Quelle voiture ai-je ?
Ma sœur vit au Québec
s Où vit ma sœur ?
x Does a relative of mine live abroad?
Je fais du yoga chaque matin
s Quand est-ce que je fais du yoga ?
p Quel sport je pratique ?
x Was mache ich für meine Gesundheit?
Le fournisseur de tulipes est à Amsterdam
s Où est le fournisseur de tulipes ?
x Where do our tulips come from?
Je ne bois pas d'alcool
s Est-ce que je bois de l'alcool ?
p Est-ce que j'accepterais un verre de vin ?
x Do I drink wine?
Pas de visages humains sur les images
s Faut-il des visages sur les images ?
p Peut-on montrer des personnes ?
x Can you show people in the pictures?
Mon budget publicité est de 400 euros par mois
s Quel est mon budget publicité ?
x How much can I spend on advertising?
J'apprends l'italien le mardi soir
s Quand est-ce que j'apprends l'italien ?
p Quelle langue étrangère j'étudie ?
x Which language am I learning?
J'ai grandi en Bretagne au bord de la mer
s Où ai-je grandi ?
p D'où est-ce que je viens ?
x Where did I spend my childhood?
Mon peintre préféré est Odilon Redon
s Qui est mon peintre préféré ?
p Quel artiste est-ce que j'admire ?
x Who is my favorite painter?
Je souffre de migraines
s De quoi je souffre ?
p Ai-je souvent mal à la tête ?
x Do I have health problems?
Les vitrines changent le premier du mois
s Quand changent les vitrines ?
x When do we redecorate the shop window?

# Lin, zh
我在杭州开了一家茶馆
s 我的茶馆在哪里？
p 我做什么生意？
x What business do I own?
我养了一只橘猫叫豆包
s 我养的猫叫什么？
p 我有宠物吗？
x What is the name of my cat?
我女儿在学小提琴
s 我女儿在学什么？
x Which instrument does my daughter play?
我对花生过敏
s 我对什么过敏？
p 哪些东西我不能吃？
x What food is dangerous for me?
请用繁體中文回答我
s 用繁體還是簡體回答？
x Which writing system should you use?
海报要用水墨风格
s 海报用什么风格？
x What style should the posters be in?
我丈夫是高中数学老师
s 我丈夫教什么？
x What does my husband teach?
每周三茶馆休息
s 茶馆哪天休息？
x On which day are we closed?
我最喜欢的颜色是墨绿色
s 我最喜欢什么颜色？
x What is my favourite color?
我不会开车
s 我会开车吗？
x Can I drive?
新店十月一日开业
s 新店什么时候开业？
p 分店几号开始营业？
x When does the new shop open?
我每天晚上散步一小时
s 我每天散步多久？
p 我怎么锻炼身体？
x How do I get exercise?
图片里不要出现人物
s 图片里可以有人物吗？
x May pictures contain people?
我喜歡貓頭鷹的圖案
f 我喜欢猫头鹰吗？
x Which animal do I like on patterns?
我的合伙人叫周明
s 我的合伙人是谁？
p 谁和我一起经营？
x Who is my business partner?
我怕蛇
s 我怕什么？
x What animals scare me?
预算不超过五千元
s 预算是多少？
p 最多能花多少钱？
x How much can we spend?
我老家在四川
s 我老家在哪里？
p 我是哪里人？
x Where am I from?
標誌放在左上角
f 标志放在哪里？
x Where does the logo go?
我妈妈下个月来看我
s 谁下个月来看我？
x Who is going to visit me?
我正在减肥，不吃甜点
s 我吃甜点吗？
p 我能吃蛋糕吗？
x Am I on a diet?
我以前是记者
s 我以前是什么？
p 我从前的职业是什么？
x What was my former job?
早上不要给我发消息
s 早上可以给我发消息吗？
x When should you not contact me?
我喜欢听古琴
s 我喜欢听什么？
p 我爱好哪种音乐？
x What music do I enjoy?
菜单要有英文翻译
s 菜单要英文吗？
x What should be translated?
视频长度控制在三十秒以内
s 视频多长？
x How long may clips be?

# Beatriz and Marco, pt it
Sou professora de história em Coimbra
s Onde sou professora?
p Qual é a minha profissão?
x What subject do I teach?
Tenho dois gêmeos de quatro anos
s Quantos anos têm os gêmeos?
p Tenho filhos?
x How many children do I have?
Meu gato se chama Fado
s Como se chama meu gato?
p Que bicho de estimação eu tenho?
x What is my pet called?
Não suporto o cheiro de peixe
s Que cheiro não suporto?
x Which smell do I hate?
Toco violão numa banda de samba
s O que toco na banda?
p Qual instrumento musical eu domino?
x What instrument do I play?
Moro no terceiro andar sem elevador
s Em que andar moro?
x Which floor is my apartment on?
As imagens devem ser quadradas
s Como devem ser as imagens?
p Qual formato as ilustrações precisam ter?
x What shape should pictures have?
Meu marido trabalha como enfermeiro
s Em que trabalha meu marido?
x What is my husband's occupation?
Prefiro respostas em tópicos curtos
s Prefiro tópicos ou textos longos?
x How should replies be formatted?
Estou escrevendo um livro sobre azulejos
s Sobre o que estou escrevendo?
x What is my book about?
Acordo às cinco para nadar
s A que horas acordo?
p Que exercício eu faço?
x Which sport do I practice?
Nunca use a cor amarela
s Posso usar a cor amarela?
x Which color is forbidden?
Minha irmã mora em Angola
s Onde mora minha irmã?
x In which country does my sister live?
Faria Editora publica meus livros
s Quem publica meus livros?
x Who is my publisher?
Abito a Torino con la mia ragazza
s Dove abito?
p In che città vivo?
x Where do I live?
Faccio il falegname
s Faccio il falegname?
p Che lavoro svolgo?
x What is my trade?
Non mangio formaggio
s Mangio il formaggio?
p Quali cibi evito?
x Do I eat cheese?
Il mio cavallo si chiama Fulmine
s Come si chiama il mio cavallo?
p Possiedo un animale?
x What animal do I own?
Consegno la cucina dei Rossi il 20 maggio
s Quando consegno la cucina dei Rossi?
x When do I deliver the kitchen?
Mi piace il legno di noce
s Quale legno mi piace?
p Qual è il materiale che preferisco?
x Which wood do I like best?
Mia nonna ha compiuto cento anni
s Quanti anni ha mia nonna?
x How old is my grandmother?
Tifo per il Torino, non per la Juve
s Per chi tifo?
p Qual è la mia squadra di calcio?
x Which football team do I support?
Ho paura del dentista
s Di chi ho paura?
x Whom am I afraid of?
Dammi del tu
p Devi usare un tono formale con me?
Uso SketchUp per i progetti
s Cosa uso per i progetti?
p Con quale programma disegno?
x Which software do I use?
Mio padre mi ha insegnato il mestiere
s Chi mi ha insegnato il mestiere?
p Da chi ho imparato a lavorare?
x Who taught me my craft?

# Jiho and Aisyah, ko ms
저는 서울에서 카페를 운영해요
s 카페는 어디에 있나요?
p 제 직업이 뭐예요?
x What do I do for a living?
강아지 이름은 보리예요
s 강아지 이름이 뭐예요?
p 반려동물이 있나요?
x What is my dog called?
저는 매운 음식을 못 먹어요
s 저는 어떤 음식을 못 먹어요?
x Can I eat spicy food?
로고는 파란색으로 해 주세요
s 로고는 무슨 색이에요?
x What color should the logo be?
여동생이 의대에 다녀요
s 여동생은 어디에 다녀요?
x What does my sister study?
저는 고양이 털 알레르기가 있어요
s 저는 무슨 알레르기가 있어요?
x What am I allergic to?
주말에는 등산을 가요
s 주말에 뭐 해요?
p 취미가 뭐예요?
x What do I do on weekends?
존댓말로 대답해 주세요
s 존댓말로 대답해야 하나요?
x Should you be formal or casual?
마감은 매달 말일이에요
s 마감은 언제예요?
x When are things due?
저는 재즈를 좋아해요
s 저는 무슨 음악, 재즈를 좋아해요?
p 어떤 음악을 즐겨 들어요?
x What music do I like?
부모님은 부산에 사세요
s 부모님은 어디에 사세요?
x Where do my parents live?
그림에 글자를 넣지 마세요
s 그림에 글자를 넣어도 돼요?
x May images contain text?
저는 비행기 타는 게 무서워요
s 비행기가 무서워요?
x What am I scared of?
Saya seorang jurutera di Pulau Pinang
s Di mana saya jurutera?
p Apakah pekerjaan saya?
x What is my profession?
Anak saya tiga orang
s Berapa orang anak saya?
x How many kids do I have?
Saya alah kepada udang
s Saya alah kepada apa?
p Makanan apa yang tidak boleh saya makan?
x Which food must I avoid?
Kucing saya bernama Comel
s Apakah nama kucing saya?
p Adakah saya memelihara haiwan?
x What pet do I have?
Saya suka warna ungu muda
s Warna apa saya suka?
x What is my favorite colour?
Ibu saya tinggal bersama kami
s Siapa tinggal bersama kami?
x Who lives with us?
Saya berenang setiap pagi Ahad
s Bila saya berenang?
p Apakah sukan saya?
x Which sport do I do?
Jangan hubungi saya waktu malam
s Boleh hubungi saya waktu malam?
x When should I not be contacted?
Saya menjual kek buatan sendiri
s Apa yang saya jual?
x What do I sell?
Suami saya memandu lori
s Apa yang suami saya pandu?
x What is my husband's job?
Saya tidak minum kopi
s Adakah saya minum kopi?
x What drink do I avoid?
Pejabat saya dekat pantai
s Di mana pejabat saya?
x Where is my workplace?
Saya sedang belajar bermain biola
s Apa yang saya belajar?
x What instrument am I learning?

# More voices, tr he ar de hi vi
İzmir'de küçük bir otel işletiyorum
s Otelim nerede?
x What business do I run?
Kızım üniversitede hukuk okuyor
s Kızım ne okuyor?
x What does my daughter study?
Fıstığa alerjim var
s Neye alerjim var?
x What am I allergic to?
Köpeğimin adı Karamel
s Köpeğimin adı ne?
x What is my dog's name?
Sigarayı geçen yıl bıraktım
s Sigarayı ne zaman bıraktım?
x Do I smoke?
אני גר בחיפה ליד הים
s איפה אני גר?
x Where do I live?
אני עובד כעורך דין
s במה אני עובד?
x What is my job?
יש לי שני כלבים
s כמה כלבים יש לי?
x How many pets do I have?
אני לא אוכל בשר
s האם אני אוכל בשר?
x Do I eat meat?
أدير مطعما صغيرا في تونس
s أين أدير المطعم؟
f أين مطعمي؟
x What business do I manage?
زوجتي مهندسة معمارية
s هل زوجتي مهندسة؟
x What does my wife do?
ابني يحب كرة القدم
s ماذا يحب ابني؟
x Which sport does my son like?
كتابي المفضل هو ألف ليلة وليلة
f ما هو الكتاب المفضل؟
x What is my favorite book?
Ich habe einen Schrebergarten am Stadtrand
f Habe ich einen Garten?
x Do I have a garden?
Meine Geburtstagsfeier ist am 2. Juli
f Wann ist die Feier?
x When is my party?
Der Zahnarzttermin ist am Dienstag
f Wann muss ich zum Zahnarzt?
x When do I see the dentist?
Mein Lieblingsrestaurant ist der Goldene Hirsch
f Welches Restaurant mag ich?
x Where do I like to eat out?
I love watercolour paintings of harbours
f Do I like watercolor?
x Welche Bilder mag ich?
My raincoat is yellow
f yelow raincot
x Welche Farbe hat mein Mantel?
I study photography at night school
f What about my photograpy studies?
x Was lerne ich abends?
मैं दिल्ली में वकील हूँ
s मैं दिल्ली में क्या हूँ?
x What is my profession?
मेरे पास दो गायें हैं
s मेरे पास कितनी गायें हैं?
x What animals do I own?
मेरी पत्नी को बागवानी पसंद है
s मेरी पत्नी को क्या पसंद है?
x What is my wife's hobby?
Tôi sống ở Hà Nội với bố mẹ
s Tôi sống ở đâu?
x Whom do I live with?
Tôi không ăn được hải sản
s Tôi không ăn được gì?
x What can't I eat?
Tôi chạy bộ mỗi sáng
s Tôi chạy bộ khi nào?
x What exercise do I do?
`;
