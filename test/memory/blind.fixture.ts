/**
 * Sets for reports, in one line for each item. Their writers had seen neither the code nor the rules ("written without
 * sight of the rules"). A fixed hash of the item puts it into half A, which rules may be improved with, or half B, of which
 * only totals were read. Blocks begin with the half.
 */

/** Facts, each with a question in other words (p) or another language (x); see meaning.fixture.ts. A question is asked in a pool of up to 26 facts. */
export const blindMeaning = `
# A1
The user plays chess by mail with a pen pal.
x В какую игру я играю по переписке?
I hate it when people call me 'buddy'.
p which nickname should you never give me?
Der Nutzer möchte nie Gesichter von echten Prominenten in seinen Bildern.
x Am I okay with real celebrities showing up in my pictures?
用户上个月换了手机号码。
x When did I change my phone number?
The user draws a webtoon about office life.
x 내가 그리는 웹툰은 무슨 내용이야?
The user has a summer cottage with a sauna.
x Есть ли у меня на даче баня?
Shellfish makes my throat swell up.
p why are shrimp and lobster dangerous for me?
The user's best friend lives on a houseboat.
x Dove abita il mio migliore amico?
The user has two golden retrievers named Biscuit and Waffle.
p what are my dogs called?
De gebruiker is mantelzorger voor zijn oma.
x do I take care of my grandmother?
The user sees a therapist every other Tuesday.
x Hoe vaak ga ik naar de psycholoog?
The user has to have a wisdom tooth pulled soon.
x Was muss der Zahnarzt demnächst bei mir machen?
I'm building a treehouse for the kids.
p what am I constructing for my children?
Der Nutzer hat eine große Modelleisenbahn auf dem Dachboden.
x What have I set up in the attic?
Di solito stiro mentre guardo le serie tv.
x which chore do I do in front of the television?
The user fasts during Ramadan.
x Ramazanda oruç tutuyor muyum?
The user wants all characters drawn in anime style.
p sketch the hero so he looks like a Japanese cartoon, the way I always ask
The user suffers from migraines whenever the weather changes.
p what triggers my bad headaches?
The user dislikes text overlays on images.
p Should you put captions on top of my pictures?
The user is trying to shed ten kilos before summer.
p How much weight do I hope to lose?
The user invests in gold and distrusts the stock market.
x 比起股票，我更愿意投资什么？
# A2
My husband snores so loudly that we sleep in separate rooms.
x Pourquoi est-ce que mon mari et moi faisons chambre à part ?
The user is learning to play the cello.
p which string instrument am I taking lessons in?
The user wants dark mode in every app.
p do I like a black or a white background in my programs?
I pay for a gym membership every month but never go.
p am I wasting cash on a fitness club?
The user gets seasick easily.
p do I feel nauseous on boats?
My parents sold the farm last year.
p did mom and dad get rid of their agricultural land?
The user's daughter starts kindergarten this autumn.
p when does my little girl begin preschool?
The user wants the company logo in the lower right corner of every image.
x In quale angolo devi mettere il marchio della mia azienda?
L'utilisateur a peur du noir depuis son enfance.
x have I always been scared of the dark?
사용자는 오른쪽 귀가 잘 들리지 않는다.
x Which of my ears is hard of hearing?
The user's laptop only has 8 GB of RAM.
p how much memory is in my computer?
The user's smartphone screen is cracked.
x Co się stało z moim telefonem?
The user's great-uncle dug coal in Wales.
p which relative of mine was a miner?
I drive an old Volvo from 1994.
p which car is mine?
The user volunteers at a homeless shelter every Sunday.
p what charity do I help out with on weekends?
I'm 190 centimeters tall.
p what's my height?
I love winter more than any other season.
p what's my favorite time of the year?
The user runs a small bakery in Lyon.
p in which French city do I sell bread and croissants?
The user needs glasses for reading.
p is my eyesight poor up close?
The user does tai chi in the park with retired neighbors.
x 我和邻居们在公园里做什么运动？
The user was recently fired from an insurance company.
p did I lose my job?
# A3
The user repairs antique clocks after work.
p which old timepieces do I fix as a hobby?
The user finds blue cheese disgusting.
p which smelly food makes me gag?
私は毎晩寝る前に日記を書いています。
x do I keep a diary?
The user likes horror movies from the 1970s.
p recommend me a scary old film, you know what I'm into
The user wants the robot in the video to have a female voice.
x 영상 속 로봇은 어떤 목소리로 해야 해?
I'm terrified of spiders.
p am I afraid of any bugs?
My basement flooded last week.
x Waar in huis stond er vorige week water?
The user is color-blind and confuses red with green.
p which hues can't I tell apart?
I quit smoking in March.
p when did I give up cigarettes?
My wallet was stolen in Barcelona.
p where did that pickpocket get me?
I go jogging around the lake at dawn.
p where do I run in the morning?
Perfume gives me a skin rash.
x 나는 왜 향수를 쓰면 안 돼?
The user prefers wide shots over close-ups in films.
x Prefiro planos abertos ou fechados?
The user stutters when nervous.
p what speech problem do I get if I'm anxious?
ユーザーは折り紙で動物を作るのが好きだ。
x What do I like to fold out of paper?
The user likes pictures that resemble grainy Polaroids.
p give my photo that retro instant-camera look
The user visits a hot spring once a month.
x 私はどのくらいの頻度で温泉に行ってる？
The user is scared of flying.
p would I feel okay boarding a plane?
The user's boss is called Henrietta and is rather strict.
p what's my manager's name again?
The user's favorite dessert is baklava with pistachios.
x En sevdiğim tatlı hangisi?
The user edits photographs in Lightroom.
p What software do I retouch my pictures with?
# A4
The user speaks Swahili at home.
p Which African language do I talk in with my family?
The user is pregnant and due in October.
x Para quando está previsto o nascimento do meu bebê?
The user hikes in the mountains every weekend with colleagues.
x 나는 주말마다 직장 동료들이랑 뭘 하지?
I have a tattoo of an octopus on my forearm.
p what sea creature did I get inked on my body?
The user grows tomatoes and zucchini on the balcony.
p Which vegetables did I plant outside?
The user's favorite painter is Caspar David Friedrich.
p Which artist do I admire most?
My gold ring fell into the river.
x Куда упало моё кольцо?
Oolong is the user's favorite tea.
p put the kettle on, you know which hot beverage I like best
Mi abuela me enseñó a hacer tortilla de patatas.
x who taught me to make potato omelette?
I'm left-handed.
p am I a southpaw?
The user is lactose intolerant.
x Warum vertrage ich keine Milch?
The user's landlord is raising the rent by ten percent.
p how much more will my flat cost each month?
The user's twin brother moved to Canada.
p which sibling of mine lives abroad?
The user has a season ticket for the opera.
x À quel genre de spectacle suis-je abonné ?
The user goes salsa dancing on Thursday evenings.
x ¿Qué hago los jueves por la noche?
The user goes mushroom picking in the forest every September.
x Po co chodzę we wrześniu do lasu?
我睡觉时必须戴眼罩和耳塞。
x what do I need to wear to fall asleep?
The user prefers muted pastel tones in illustrations.
p What colors should my drawings have?
The user was born on the 3rd of November.
p when do I turn a year older?
Użytkownik ma trzech młodszych braci.
x How many younger brothers do I have?
The user keeps a beehive behind the garage.
x Wo stehen eigentlich meine Bienen?
# B1
The user always procrastinates on filing taxes.
p Which annual paperwork do I keep putting off?
The user's son has autism.
p is my boy neurodivergent?
The user's hair is dyed turquoise.
p Am I a blonde or a brunette?
The user goes surfing whenever the waves are good.
x Que esporte eu pratico no mar?
The user prefers black-and-white photography.
x Мне больше нравятся цветные или чёрно-белые снимки?
El usuario odia madrugar.
x Do I mind getting up early?
I was nine when my parents got divorced.
x ¿Cuántos años tenía yo cuando se separaron mis padres?
The user is making a short film about an abandoned lighthouse.
x ¿De qué trata el cortometraje que estoy rodando?
The user dislikes crowds.
p how do I feel about places packed with people?
The user ferments kimchi in large jars.
p do I pickle Korean cabbage myself?
The user sketches on a Wacom tablet.
p Which device do I draw with?
The user wants only instrumental background music in videos, no singing.
x Videolarımın müziğinde şarkı sözü olsun mu?
The user's wife is an emergency room nurse.
p What does my spouse do for a living?
The user had a burnout two years ago.
x Quando ho avuto un esaurimento per il troppo lavoro?
I'm an atheist.
p do I believe in God?
Моя тёща живёт с нами с прошлого года.
x since when has my mother-in-law been staying with us?
The user is getting married in Tuscany next June.
p where will my wedding be?
The user wants short answers without small talk.
p please keep your replies brief and skip the chit-chat, as I told you
The user has been vegan for six years.
p suggest a dinner for me, may it contain meat or eggs?
The user crochets stuffed animals as gifts.
p What kind of plush toys do I make with yarn for presents?
The user is doing military service until next February.
x 나 언제 제대하더라?
The user has read every Tintin comic at least five times.
x Welke stripverhalen heb ik keer op keer gelezen?
The user wants videos to be no longer than fifteen seconds.
x Quelle est la durée maximale pour mes vidéos ?
The user's neighbor plays loud techno until 3 am.
p what noise from next door keeps me up?
I'm moving to Osaka in April.
x 4月にどこへ引っ越すんだっけ？
The user's gas stove is broken.
p does my cooker work at the moment?
# B2
I've lost my house keys twice this year.
x O que eu já perdi duas vezes este ano?
The user collects sneakers and owns over sixty pairs.
p How many shoes do I have?
The user is a retired firefighter.
x Kim byłem z zawodu, zanim przeszedłem na emeryturę?
I purchased a telescope to look at Saturn.
p what did I buy for stargazing?
The user practices calligraphy with a brush.
x 筆を使う私の習い事は何だっけ？
The user owns a Vespa but only rides it on sunny days.
x Con che tempo prendo lo scooter?
Пользователь вырезает фигурки из дерева.
x What do I carve out of wood?
The user's passport expires in August.
p until when are my travel documents valid?
The main character of the user's cartoon series is a shy dragon.
x Kto jest głównym bohaterem mojej kreskówki?
Je préfère les aquarelles aux peintures à l'huile.
x do I like watercolors or oil paintings better?
The user goes ice skating as soon as the canals freeze over.
x Wat doe ik graag als de grachten bevroren zijn?
The user wants cherry blossoms in the background of the poster.
x ポスターの背景にはどんな花を入れればいい？
O usuário coleciona discos de vinil de música brasileira.
x What kind of records do I collect?
The user wants landscapes in the style of ink wash painting.
x 我的风景画想要什么画风？
I always post my clips in vertical 9:16.
p should this video be portrait or landscape?
The user mostly works night shifts.
p what hours am I usually on duty?
Music distracts the user while working.
p Can I focus with songs on?
The user has hay fever in spring.
x 春になるとくしゃみと鼻水が止まらないのはなぜ？
The user cycles to work every day.
p how do I commute to the office?
The user takes thyroid pills every morning on an empty stomach.
x Quel médicament dois-je prendre à jeun ?
Kullanıcı her yaz ailesiyle kamp yapmaya gidiyor.
x what do I do with my family every summer?
The user is saving money for a trip to Patagonia.
p which vacation am I putting cash aside for?
I have to hand in my thesis on May 12.
p what's the deadline for the dissertation?
I'm the goalkeeper of an amateur soccer team.
p which position do I play in football?
My sister teaches chemistry at a secondary school.
x Was macht meine Schwester beruflich?
# B3
The user's father has dementia.
p which parent of mine is becoming forgetful?
The user is studying for the bar exam.
x Quale esame devo superare per diventare avvocato?
The user broke an ankle while skiing.
p How did I injure my foot on the slopes?
The user's mother passed away in 2019.
p When did mom die?
The user's go-to dish for guests is mushroom risotto.
p friends are coming over, what do I usually cook then?
Meu filho mais velho mora em Lisboa com a namorada.
x where does my eldest son live?
My nephew got into medical school.
x Yeğenim üniversitede hangi bölümü kazandı?
I'm writing a detective novel set in Shanghai in the 1920s.
p what was my crime book about?
L'utente ha una tartaruga di trent'anni.
x How old is my tortoise?
The user lives on the fourth floor of a building that has no elevator.
p Do I need to climb stairs to get to my apartment?
The user's fridge makes a strange buzzing sound.
x ¿Qué le pasa a mi nevera?
The user holds a doctorate in marine biology.
p what subject is my PhD in?
The user had knee surgery last winter.
x ¿De qué me operaron el invierno pasado?
The user wants no blood or violence in generated scenes.
x Mag er bloed of geweld te zien zijn in mijn beelden?
The user's air conditioner leaks water.
x 我家空调出了什么毛病？
The user always wants the light in portraits to come from the side.
x Aus welcher Richtung soll bei meinen Porträts das Licht kommen?
The user works as an interpreter in court.
x Que trabalho faço no tribunal?
I don't drink any alcohol.
x Czy piję piwo albo wino?
The user has high blood pressure.
x Что у меня с давлением?
The user can't handle spicy food.
x 我能吃辣吗？
The user is restoring a wooden fishing boat.
x Ne tür bir tekne tamir ediyorum?
The user's cat is diabetic and needs insulin twice a day.
p what illness does my kitty have?
I sleep terribly if I have coffee after 2 pm.
p until what hour may I drink an espresso without lying awake all night?
The user inherited a vineyard from an aunt.
x Qu'est-ce que ma tante m'a légué ?
The user took out a loan to renovate the roof.
p what did I borrow from the bank for?
`;

/** Sentences in 12 languages. A line with `=` states a fact of the user; all others state none. */
export const blindSentences = `
# A
display_name=Robbie | ok first things first, please call me Robbie, nobody says Robert
display_name=Anjali | Hi again! Forgot to introduce myself, I'm Anjali
display_name=Mo | Everyone at work calls me Mo, you can too
language=en | english only please, even when I paste German stuff in here
language=fr | I'd rather you talked to me in French, I was raised speaking it
timezone=UTC+5:30 | My timezone is UTC+5:30, that's why I'm up when you say goodnight
No need to answer in French just because I pasted a French menu
Call me crazy, but I think pineapple on pizza is great
Make me a cartoon cactus holding a sign that reads "my name is Spike, hug me"
I'm starving, got any ideas for a five minute snack?
display_name=Katharina | Ich bin übrigens die Katharina, freut mich
language=en | Antworte mir ab jetzt bitte auf Englisch, ich will im Job sicherer werden
timezone=Europe/Berlin | Für mich gilt Berliner Zeit, also gib mir Uhrzeiten bitte immer so an
timezone=UTC-3 | Meine Zeitzone ist jetzt UTC-3, bin letztes Jahr ausgewandert
Auf Englisch brauchst du mir nicht zu antworten
Welchen Spitznamen würdest du mir geben?
Vor der Hochzeit hieß ich noch Schneider
display_name=Thibault | Je m'appelle Thibault et je débute complètement en jardinage
display_name=Nono | Tu peux m'appeler Nono, c'est plus simple
language=ar | parle-moi en arabe désormais, c'est la langue où je suis le plus à l'aise
timezone=Europe/Paris | Je suis à l'heure de Paris, penses-y pour les rappels
Ah non, pas la peine de me parler anglais, j'y comprends rien
Ma collègue s'appelle Sandrine et elle me pique mes yaourts
Comment on dit « je m'appelle Paul » en japonais ?
Écris-moi les paroles d'une chanson en espagnol sur la pluie
On joue : tu es le détective et moi je suis le baron de Valmont
Si j'habitais à Tokyo je raterais tous vos appels à cause du décalage
display_name=Rocío | Me llamo Rocío, mucho gusto
display_name=Nacho | oye dime Nacho porfa, lo de Ignacio me suena a bronca
display_name=Esteban | Hola, soy Esteban, te escribí ayer por lo del coche
language=en | de ahora en adelante contéstame en inglés, que tengo una entrevista el mes que viene
language=ca | Prefiero que me respondas en catalán, gracias
timezone=America/Argentina/Buenos_Aires | yo manejo horario de Buenos Aires, tenelo en cuenta cuando me pases horas
Oye, que no te he pedido que me contestes en inglés
Pásame esto al francés: «¿dónde está la estación?»
De pequeño me llamaban Pulga por lo bajito que era
Pon que la protagonista entra y dice «me llamo Lucía y no le temo a nada»
Cuando vivía en Las Palmas iba con hora canaria, qué tiempos aquellos
display_name=Fatima | mi chiamo Fatima e faccio l'infermiera, turni di notte soprattutto
language=it | D'ora in poi rispondimi in italiano, per favore
language=en | da adesso in avanti parliamo in inglese, ok? devo esercitarmi
Il mio capo vuole che io gli risponda sempre in inglese
Il mio vicino si chiama Ugo e suona la tromba alle sette di mattina
Se mi chiamassi Napoleone pretenderei un cavallo bianco
Mi prepari una mail in francese per la proprietaria della casa al mare?
Disegna un gatto con un cartellino che dice «mi chiamo Briciola»
Mia figlia studia a Melbourne, lei è avanti di un sacco di ore
display_name=Juliana | Oi, aqui é a Juliana, tudo bem?
language=en | quero que você fale comigo em inglês daqui pra frente, tô treinando
timezone=America/Manaus | meu fuso é o de Manaus, não o de Brasília
Qual é o meu nome? Você ainda lembra?
Passa esta frase para alemão, é só esta mesmo
Ele entrou na sala e disse «eu sou o Batman» e toda a gente se riu
Escreve um conto em que o narrador começa com «chamo-me Baltasar»
display_name=Femke | Hoi, ik ben Femke
display_name=Bas | Noem me maar Bas, Sebastiaan is een hele mond vol
timezone=Europe/Amsterdam | Mijn tijdzone is Europe/Amsterdam
Hoe heet jij eigenlijk?
Maak een poster van een robot met de tekst 'Ik heet Bolt'
Kun je dit mailtje even in het Frans zetten?
De vergadering is om 9 uur Londense tijd, wie verzint zoiets
Die brief van de Belastingdienst is Chinees voor mij
Mijn vriend volgt een cursus Zweeds en oefent de hele dag hardop
display_name=Zosia | Cześć, jestem Zosia
display_name=Krzysztof | Mam na imię Krzysztof, nie musisz pisać per pan
language=uk | wolałabym, żebyś rozmawiał ze mną po ukraińsku
timezone=Europe/Warsaw | Moja strefa czasowa to Warszawa
Jestem w szoku, ile teraz kosztują truskawki
Najlepsze jest, jak on mówi „nazywam się Bond” i wszyscy mdleją
Uczę się norweskiego od pół roku i dalej nic nie rozumiem
Udawaj, że jestem królem Zygmuntem, i zwracaj się do mnie jak dworzanin
display_name=Артём | Меня зовут Артём, будем знакомы
display_name=Лёша | зови меня просто Лёша
language=en | давай с этого дня общаться на английском, хочу подтянуть
language=kk | Мне удобнее на казахском, так и пиши мне дальше
Бабушка говорила со мной только по-татарски, скучаю по этому
Нарисуй бейджик с надписью «Меня зовут Алиса»
Лечу во Владивосток на неделю, как быстрее привыкнуть к разнице во времени?
display_name=Memo | bana Memo diyebilirsin
display_name=Burak | Selam, ben Burak, geçen gün tarif sormuştum
language=en | cevapları hep ingilizce yaz bana, pratik yapmam lazım
timezone=Europe/Istanbul | Saat dilimim İstanbul
Bana İngilizce cevap verme, yoruluyorum
Kızımın adı Defne, okula yeni başladı
Toplantı Londra saatiyle 14.00'te, umarım kaçırmam
Fransızca öğrenmek kaç ay sürer sence?
language=en | 今後は全部英語で答えてほしいです。勉強になるので
英語では答えないでね
弟の名前は健太で、来月結婚するんだ
もし私が花子って名前だったら、ちょっと古風すぎるかな
display_name=陈思远 | 对了，我的名字是陈思远，别再叫我“用户”了
language=zh_CN | 以后请一直用中文回答我
language=en | 从现在起都跟我说英语吧，我在准备雅思
我会说一点韩语，是看剧学的
假如我叫爱因斯坦，数学会不会好一点？
帮我把这句话翻译成法语
用文言文写一封辞职信
我同事在伦敦，他那边还是半夜呢
叫我怎么说呢，这部电影真的很一般
# B
display_name=Siobhan | It's spelled Siobhan, S-i-o-b-h-a-n. My name, I mean. Autocorrect hates it
language=es | Could you stick to Spanish with me? Permanently I mean, I need the practice
timezone=America/Los_Angeles | fyi I'm on Pacific time so give me all times in that
Imagine my parents had named me Wolfgang, would I be any better at piano?
I used to go by Lizzie in college but nobody calls me that anymore
My boss runs on Tokyo time so our standup is ridiculously late for me
Write a short birthday poem in Italian for my grandma
display_name=Jojo | kannst mich ruhig Jojo nennen
display_name=Benedikt | Ich heiße Benedikt und hätte mal eine Frage zur Steuererklärung
language=de | Bitte immer auf Deutsch antworten, auch wenn ich dir englische Texte reinkopiere
language=tr | Mir wär's lieber, wenn du Türkisch mit mir redest
timezone=Europe/Zurich | ich wohn in zürich, das ist auch meine zeitzone
Mein Hund heißt Emil und frisst seit gestern nichts mehr
Auf seinem T-Shirt stand „Ich heiße Horst und beiße nicht“, ich hab so gelacht
Wie lange brauche ich in Spanisch wohl bis B1, wenn ich jeden Tag übe?
Wie spät ist es gerade in Sydney?
Ich bin Bayern-Fan, da kannst du nichts machen
display_name=Camille | moi c'est Camille, enchantée
display_name=Aïcha | Mon prénom c'est Aïcha, pas Aïda, tu t'es trompé
language=fr | Réponds-moi toujours en français stp, même quand je t'écris en anglais
language=pt | À partir de maintenant j'aimerais que tu me répondes en portugais
timezone=UTC-4 | Mon fuseau horaire c'est UTC-4, je vis aux Antilles
À l'époque tout le monde écrivait « Je suis Charlie » sur les réseaux
L'appel avec le client est à 15 h heure de New York
language=es | Háblame siempre en español aunque te pegue cosas en otros idiomas
timezone=America/Mexico_City | Mi zona horaria es la de Ciudad de México
timezone=UTC-5 | Mi huso horario es UTC-5
Mi hijo se llama Mateo y no hay manera de que duerma la siesta
¿En qué idioma piensas tú cuando te hablo?
Llámame mañana a las nueve, le dije, y el tío ni caso
display_name=Ginevra | Ciao, sono Ginevra, piacere!
display_name=Pippo | chiamami pure Pippo, il nome intero non lo usa nessuno
display_name=Lorenzo | Il mio nome è Lorenzo, così la smetti di chiamarmi utente
language=de | Preferirei che mi scrivessi in tedesco, mi serve per il lavoro
timezone=Europe/Rome | Il mio fuso orario è quello di Roma
Come si dice «buon compleanno» in polacco?
Da bambina mi dicevano tutti Lulù, lo odiavo
Il bilancio condominiale per me è arabo
display_name=Duda | pode me chamar de Duda
display_name=Gonçalo | O meu nome é Gonçalo e preciso de ajuda com uma folha de cálculo
display_name=Wellington | me chamo Wellington, com dois l mesmo
language=pt | A partir de hoje responde-me só em português, se faz favor
timezone=Europe/Lisbon | Guio-me pela hora de Lisboa, é esse o meu fuso horário
não precisa me responder em espanhol não, tá?
Meu chefe se chama Rogério e manda áudio de dez minutos
Vou para o Dubai em março, preciso de adaptador de tomada?
Tô pensando em fazer um curso de japonês, vale a pena?
Se eu morasse em Luanda, qual seria o meu fuso?
display_name=Youssef | ik heet trouwens Youssef, had ik nog niet gezegd
language=nl | Wil je voortaan in het Nederlands antwoorden?
language=en | praat vanaf nu engels met mij aub
language=de | Ik heb liever dat je me in het Duits antwoordt, daar ben ik mee opgegroeid
timezone=UTC+8 | ik zit zelf op UTC+8, hou daar rekening mee als je me tijden geeft
Je hoeft echt niet in het Engels te antwoorden hoor
De kapper noemde me de hele tijd Sandra, geen idee waarom
Op school noemden ze me Sproet, gelukkig is dat voorbij
display_name=Gosia | mów mi Gosia
language=pl | Odpowiadaj mi zawsze po polsku, dobrze?
language=en | Od teraz pisz do mnie po angielsku, muszę się rozkręcić przed wyjazdem
timezone=America/Chicago | Mieszkam w Chicago i taką też mam strefę czasową
Tylko nie odpowiadaj mi po niemiecku
Moja teściowa ma na imię Halina i wpada bez zapowiedzi
Jak po hiszpańsku powiedzieć, że boli mnie ząb?
Napisz wierszyk po angielsku na Dzień Matki
Brat wyjechał do Vancouver i teraz on jest w UTC-8
display_name=Наталья | Кстати, я Наталья, а то уже час болтаем, а я не представилась
language=ru | Отвечай мне, пожалуйста, всегда на русском
timezone=Asia/Yekaterinburg | Мой часовой пояс — Екатеринбург
timezone=Europe/Moscow | я живу по московскому времени, учитывай это в напоминаниях
Моего кота зовут Борис, и он опять разбил вазу
В детстве меня дразнили Карлсоном
А как зовут того актёра из «Иронии судьбы»?
Переведи вот эту фразу на испанский
Для меня эти формулы — китайская грамота
display_name=Elif | Benim adım Elif, tanıştığımıza sevindim
language=tr | Bundan sonra bana Türkçe cevap ver lütfen
language=de | Benimle hep Almanca konuşmanı istiyorum, dili unutmayayım
timezone=UTC+4 | Benim saat dilimim UTC+4, ona göre hesapla
Adım Süleyman olsaydı kesin beni padişah sanırlardı
Şu cümleyi Rusçaya çevirir misin?
Hikâyedeki korsan "benim adım Kara Sakal" desin
Ben zaten sabah insanı değilim, kahve içmeden konuşamam
display_name=田中 | はじめまして、田中と申します。
display_name=ゆうき | ゆうきって呼んでね
display_name=美咲 | 私の名前は美咲です。よろしくお願いします
language=ja | これからは日本語で返事してください
language=ko | できればこの先ずっと韓国語で話してもらえると嬉しいな
timezone=Asia/Tokyo | 私のタイムゾーンは東京です
timezone=UTC+1 | 自分のタイムゾーンはUTC+1なので、時間はそれに合わせてください
「吾輩は猫である」って英語でどう言うの？
胸に「ぼくはロボ太です」と書いてあるロボットの絵を描いて
この一文だけ中国語に訳してもらえる？
ニューヨークの友達に電話したいんだけど、向こうは今何時？
宅配の人に「鈴木さんですか」って間違えられたよ
display_name=李晓雯 | 我叫李晓雯，你好呀
display_name=阿强 | 叫我阿强就行
language=ja | 我更希望你平时用日语回复我
timezone=Asia/Shanghai | 我的时区是上海
timezone=Asia/Singapore | 我这边是新加坡时间，提醒我的时候按这个来
我女儿叫小满，今年上幼儿园
你觉得我该起个什么英文名？
`;

/** Pairs of other facts (~) and of the same fact (=); see merging.fixture.ts. */
export const blindPairs = `
# A
~ I'm allergic to peanuts | I'm not allergic to peanuts
~ I run five kilometres every morning | I run fifteen kilometres every morning
~ I pay 850 dollars a month for the flat | I pay 580 dollars a month for the flat
~ My mother has diabetes | My grandmother has diabetes
~ I drank coffee before the operation | I drank coffee after the operation
~ I broke my left wrist | I broke my right wrist
~ I moved out because of the noise | I moved out because of the rent
~ I see my therapist once a week | I see my therapist once a month
~ My son is taller than me | I am taller than my son
~ I eat fish but no meat | I eat meat but no fish
~ I lent Oscar two hundred pounds | Oscar lent me two hundred pounds
~ I work night shifts on weekends | I work night shifts on weekdays
~ I want to learn the cello | I have learned the cello
~ My cat is called Milo | My dog is called Milo
~ I take the pills before breakfast | I take the pills after breakfast
~ My sister married Paul in 2014 | My sister divorced Paul in 2014
~ I prefer images with bright colours | I prefer images with muted colours
~ I want pictures without any people in them | I want pictures with people in them
~ The flat is on the third floor | The flat is on the thirteenth floor
~ My train to work leaves at 6:15 | My train to work leaves at 6:50
~ I teach biology at a secondary school | I teach chemistry at a secondary school
~ I have two sons and a daughter | I have two daughters and a son
~ Our car is a blue Honda | Our car is a grey Honda
~ I weigh 74 kilos | I weigh 47 kilos
~ I gave up dairy for my skin | I gave up dairy for my stomach
~ The novel I'm writing is set in Vienna | The novel I'm writing is set in Venice
~ I can swim but I can't dive | I can't swim, let alone dive
~ Ich bin gegen Katzenhaare allergisch | Ich bin gegen Hundehaare allergisch
~ Ich trinke keinen Alkohol | Ich trinke selten Alkohol
~ Mon fils aime les épinards | Mon fils n'aime pas les épinards
~ J'ai mal au genou droit | J'ai mal au genou gauche
~ Mi prima Marta es abogada | Mi prima Marta quiere ser abogada
~ Lavoro a Milano | Lavoravo a Milano
~ Devo dei soldi a Carlo | Carlo mi deve dei soldi
~ Non mangio glutine | Non mangio lattosio
~ Prendo la pastiglia prima di cena | Prendo la pastiglia dopo cena
~ Alguns dos meus amigos correm comigo | Nenhum dos meus amigos corre comigo
~ Pago 600 euros de renda | Pago 900 euros de renda
~ Comecei o curso de fotografia | Terminei o curso de fotografia
~ Ik fiets elke dag naar mijn werk | Ik fiets bijna nooit naar mijn werk
~ Onze hond is vier jaar | Onze hond is veertien jaar
~ Mam spotkanie z Anną we wtorek | Mam spotkanie z Hanną we wtorek
~ Kupiłem mieszkanie za 400 tysięcy | Kupiłem mieszkanie za 700 tysięcy
~ Моя сестра старше меня на два года | Моя сестра младше меня на два года
~ Я собираюсь сделать ремонт на кухне | Я сделал ремонт на кухне
~ По средам я хожу на танцы | По субботам я хожу на танцы
~ Annem Bursa'da yaşıyor | Teyzem Bursa'da yaşıyor
~ Kahveyi şekerli içerim | Kahveyi şekersiz içerim
~ 娘は右利きです | 娘は左利きです
~ 我妈妈不吃辣 | 我妈妈爱吃辣
~ 我去年搬到了成都 | 我打算明年搬到成都
= My dog's name is Rufus | I have a dog called Rufus
= I can't eat nuts because I'm allergic | I have a nut allergy, so I can't eat them
= My birthday is on 9 November | I was born on the 9th of November
= I have three children | I'm a parent of three
= On Mondays I play badminton with Greg | Greg and I play badminton on Mondays
= I bought a house last year | Last year I bought a house
= I prefer trains to planes | I'd rather take the train than fly
= I lent Hugo fifty euros | Hugo borrowed fifty euros from me
= I'm learning Portuguese with an app | I use an app to learn Portuguese
= My husband cooks most evenings | Most evenings it's my husband who cooks
= I've stopped drinking coffee | I no longer drink coffee
= My mum's name is Beatrice | Beatrice is my mother's name
= I get up at half past five in the morning | I get up at 5:30 am
= I've been playing the guitar for ten years | For a decade now I've played the guitar
= My car broke down near Leicester | Near Leicester my car broke down
= Ich wohne seit 2018 in Hamburg | Seit 2018 lebe ich in Hamburg
= Meine Katze heißt Mimi | Ich habe eine Katze namens Mimi
= Ich esse kein Schweinefleisch | Schweinefleisch esse ich nicht
= Je suis professeur de musique | J'enseigne la musique
= Le samedi, je joue au tennis avec Luc | Je joue au tennis avec Luc le samedi
= Empiezo a trabajar a las ocho | Mi jornada de trabajo empieza a las ocho
= Ho due figli maschi | I miei figli sono due, tutti e due maschi
= Di sera bevo una camomilla | Bevo una camomilla la sera
= Sou alérgica a camarão | Tenho alergia a camarão
= O meu cão tem cinco anos | Tenho um cão de cinco anos
= Op vrijdag werk ik thuis | Ik werk vrijdags thuis
= W niedziele chodzę na basen | Chodzę na basen w niedziele
= Я работаю учителем в школе | Я школьный учитель
# B
~ My dentist appointment is on 12 March | My dentist appointment is on 21 March
~ My brother Daniel lives in Cardiff | My brother David lives in Cardiff
~ I was born in Portland, Oregon | I was born in Portland, Maine
~ I'm planning to quit my job at the bank | I've quit my job at the bank
~ Some of my cousins speak Welsh | All of my cousins speak Welsh
~ I like tea more than coffee | I like coffee more than tea
~ My daughter starts school in September | My daughter starts school next January
~ I used to smoke a pack a day | I smoke a pack a day
~ I've never been to Japan | I've been to Japan
~ I get on well with my boss | I don't get on well with my boss
~ My wife is a vegetarian | My wife is a vegan
~ I usually skip breakfast | I never skip breakfast
~ I failed my driving test | I passed my driving test
~ My niece Ruby is teaching me to skate | I am teaching my niece Ruby to skate
~ I'm flying from Dublin to Oslo on Friday | I'm flying from Oslo to Dublin on Friday
~ My landlord allows pets | My landlord doesn't allow pets
~ I share an office with Helen | I used to share an office with Helen
~ I've read every Agatha Christie novel | I've read hardly any Agatha Christie novels
~ I want to have children one day | I don't ever want to have children
~ My mother's birthday is 4 July | My father's birthday is 4 July
~ I cancelled the gym membership in May | I started the gym membership in May
~ I sleep better with the window open | I sleep better with the window closed
~ Only my husband knows about the new job | Everyone but my husband knows about the new job
~ Ich habe am 3. Juni Geburtstag | Ich habe am 3. Juli Geburtstag
~ Meine Tochter wohnt in Frankfurt an der Oder | Meine Tochter wohnt in Frankfurt am Main
~ Mein Bruder ist älter als ich | Mein Bruder ist jünger als ich
~ Ich habe das Haus gekauft | Ich habe das Haus verkauft
~ Montags gehe ich zum Yoga | Mittwochs gehe ich zum Yoga
~ J'habite au deuxième étage | J'habite au douzième étage
~ Je vais arrêter de fumer | J'ai arrêté de fumer
~ Ma tante Odile est infirmière | Ma tante Odette est infirmière
~ Je vais à la piscine deux fois par semaine | Je vais à la piscine deux fois par mois
~ J'ai quitté Lyon pour le travail | J'ai quitté Lyon par amour
~ Mi abuela nació en Granada | Mi abuela murió en Granada
~ Tengo tres gatos | Tengo trece gatos
~ Trabajo desde casa los viernes | Trabajo desde casa todos los días menos los viernes
~ Me gusta más la playa que la montaña | Me gusta más la montaña que la playa
~ Nunca he probado el sushi | He probado el sushi y me encanta
~ Mia moglie è incinta di tre mesi | Mia moglie è incinta di sei mesi
~ Meu pai é do Porto | Meu pai é de Porto Alegre
~ Tenho consulta na quinta às dez | Tenho consulta na sexta às dez
~ Mijn zus heeft een tweeling | Mijn zus is er een van een tweeling
~ Ik hou van pittig eten | Ik hou niet van pittig eten
~ Ik ga in mei naar Schotland | Ik ga in mei naar IJsland
~ Mój syn studiuje prawo | Mój syn rzucił studia prawnicze
~ Boję się latać samolotem | Nie boję się latać samolotem
~ У меня аллергия на мёд | У меня нет аллергии на мёд
~ Günde bir kez ilaç alıyorum | Günde üç kez ilaç alıyorum
~ 毎朝六時に起きます | 毎朝七時に起きます
= On rainy days I take the bus | I take the bus on rainy days
= I live in Manchester | Manchester is where I live
= I work as a nurse | I'm a nurse by profession
= My favourite colour is green | Green is the colour I like best
= I don't eat meat | I'm someone who doesn't eat any meat
= My sister is two years older than me | I'm two years younger than my sister
= I'm afraid of heights | Heights scare me
= I like images in a watercolour style | Watercolour is the style I like for images
= I hurt my left ankle playing football | While playing football I injured my left ankle
= I go to church every Sunday | Each Sunday I attend church
= I'm writing a novel about a lighthouse keeper | The novel I'm writing is about a lighthouse keeper
= My flight to Rome is on Tuesday | I fly to Rome on Tuesday
= I'm married to Leila | Leila is my wife
= Nobody in my family has blue eyes | No one in my family is blue-eyed
= Loud noises give me headaches | I get headaches from loud noise
= J'ai peur des araignées | Les araignées me font peur
= Mi hermano vive en Chile | En Chile vive mi hermano
= No me gustan las aceitunas | Las aceitunas no me gustan
= Mijn lievelingseten is stamppot | Stamppot is wat ik het liefst eet
= Babam emekli oldu | Babam artık emekli
= 犬を二匹飼っています | うちには犬が二匹います
= 我不喝牛奶 | 牛奶我不喝
`;

/** Memories, and questions that none of them concerns, by line. */
export const blindMemories = `
I've been vegetarian for six years but I still eat eggs and cheese.
I can't stand coriander, it tastes like soap to me.
Every Sunday I bake sourdough with a starter I call Gerald.
I work as a dental hygienist at a small practice in Norwich.
My boss Anneliese is retiring in June and I may take over the staff rota.
I have two daughters, Ines who is nine and Mabel who is six.
My husband Tom works offshore, two weeks on and two weeks off.
My mother-in-law is about to move into a care home in Ipswich.
I like pictures in soft watercolour with plenty of white space.
I find photorealistic faces in generated images creepy.
I want my wallpapers in portrait format for my phone.
I'm knitting a moss-green merino cardigan for my elder daughter.
We are turning the loft into a sewing room and have set aside £14,000 for it.
Our greyhound is called Biscuit and used to race.
My cat Pim takes thyroid tablets twice a day.
I'm allergic to penicillin.
I get migraines when I sleep badly.
I'm doing physiotherapy for my left knee after a skiing accident.
I grew up in Aberystwyth.
My sister Carys and I are going to Porto in October.
I drive a ten-year-old Skoda that needs new brakes.
I sing alto in a community choir on Thursdays.
I want to run my first 10k next autumn.
I'm saving up for an upright piano.
I have an allotment with beans, courgettes and far too many slugs.
I love crime novels set in Iceland.
After lunch I only drink decaf.
My father had a stroke last winter and is learning to write again.
Mabel is scared of thunderstorms.
On the first Saturday of the month I help out at the food bank.
I hate phone calls and would much rather send a text.
I'm taking an evening course in British Sign Language.
My best friend Noor lives in Rotterdam.
Black-and-white films from the 1940s are my comfort watching.
Our boiler was repaired in January by a plumber called Des.
I wear contact lenses, minus 4.5 in both eyes.
I haven't touched seafood since a bad oyster in Brittany.
I do the school run on Tuesdays and Fridays.
I'm thinking of getting a tattoo of a swift on my wrist.
Our wedding anniversary is on 3 May.
`;
export const blindQuestions = `
What's the difference between "affect" and "effect"?
Who was the first Roman emperor?
In chess, am I allowed to castle while my king is in check?
what's 17.5% of 2340
Why don't satellites fall out of the sky?
Explain how a blockchain works like I've never heard of it.
Write a Python function that reverses a linked list.
How does the electoral college in the US work?
How do I split a PDF into single pages on a Mac?
Where does the phrase "by and large" come from?
What's the boiling point of liquid nitrogen?
Give me three synonyms for "reluctant".
Was ist der Unterschied zwischen Bundestag und Bundesrat?
Quelle est la capitale du Kazakhstan ?
¿Cómo se calcula el área de un trapecio?
Chi ha inventato la radio, Marconi o Tesla?
Como faço uma tabela dinâmica no Excel?
Ile planet w Układzie Słonecznym ma pierścienie?
Osmanlı İmparatorluğu hangi yıl sona erdi?
サインとコサインの違いを簡単に教えて
`;
