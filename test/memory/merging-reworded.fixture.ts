/**
 * Pairs in 12 languages: the same fact (=) in other words or another order, or another fact (~). The tables of
 * `canonical.json` are tuned on all of them; see merging.fixture.ts.
 */
export const reworded = `
# en
= On Sundays I go hiking with my dad. | I go hiking with my dad on Sundays.
= My ex-wife hired the lawyer. | The lawyer was hired by my ex-wife.
= I lent Tara my tent. | Tara borrowed my tent from me.
= My brother Ian is older than me. | I'm younger than my brother Ian.
= I work as a nurse. | I'm a nurse by profession.
= Spiders scare me. | I'm afraid of spiders.
= I need a new car before winter. | Before winter I need a new automobile.
= I enjoy baking bread. | I like to bake bread.
= My favorite color is teal. | Teal is the color I like best.
= Manchester is where I live. | I live in Manchester.
= My dog's name is Rufus. | I have a dog called Rufus.
= I get up at half past five. | I get out of bed at 5:30.
= I'm allergic to peanuts. | I have a peanut allergy.
= My sister teaches chemistry in Leeds. | My sister is a chemistry teacher in Leeds.
= I never eat meat. | Meat is something I don't eat.
= I'm married to Paolo. | Paolo is my husband.
= We've got two kids. | We have 2 children.
= Grandma gave me her ring. | I got the ring from my grandma.
= It was Kenji who taught me to surf. | Kenji taught me how to surf.
= I weigh 80 kg. | My weight is 80 kilos.
= I commute by bicycle. | I ride my bike to work.
= Since 2019 I've been living in Oslo. | I've lived in Oslo since 2019.
= I can't stand loud restaurants. | I hate noisy restaurants.
= Please draw my pictures in watercolor style. | I want watercolor-style images, please.
= I sold my boat to Mr. Finch. | Mr. Finch bought my boat from me.
= My boss is Nadia. | I'm supervised by Nadia, she's my boss.
= I was born on 3 May 1988. | My birthday is May 3rd, 1988.
= I own a bakery in Ghent. | The bakery I own is in Ghent.
= I'm Rosa's aunt. | Rosa is my niece.
= I suffer from migraines. | I get migraines.
= The house we rent belongs to my uncle. | My uncle owns the house that we're renting.
= What I love most about autumn is the smell of rain. | The smell of rain is what I love most about autumn.
= My twin's name is Orla. | I have a twin named Orla.
= I take my coffee black. | I drink coffee without milk or sugar.
= I quit smoking in March. | In March I gave up cigarettes.
= I'm learning the cello. | The instrument I'm learning is the cello.
= I usually skip breakfast. | Most days I don't have breakfast.
= My daughter studies law at Bristol. | My daughter is a law student at Bristol.
= I'm left-handed. | I am a lefty.
= My husband died three years ago. | It's three years since my husband passed away.
= My knees hurt when I run. | Running makes my knees ache.
= No one in my family drinks alcohol. | Everyone in my family abstains from alcohol.
= My landlord is Mr. Osei. | I rent my flat from Mr. Osei.
= I make $4,000 a month. | My monthly income is four thousand dollars.
= I prefer tea to coffee. | I like tea better than coffee.
= My mum's side of the family is from Kerala. | On my mother's side, my family comes from Kerala.
= I play goalkeeper for a Sunday league team. | In our Sunday league team I'm the goalie.
= Every Wednesday evening I have choir practice. | Choir rehearsal for me is every Wednesday evening.
= I'm scared of flying. | Flying frightens me.
= Images of me should never include glasses. | Never put glasses on me in pictures.
= Lactose makes me ill. | I don't tolerate lactose.
= My car is electric. | The car I have is an electric one.
= I'm expecting a baby in June. | My baby is due in June.
= Leila is my neighbor. | I live next door to Leila.
= My wife is a pilot. | I'm married to a pilot.
= I need glasses for reading. | To read I need my glasses.
= My therapist recommended yoga to me. | Yoga was recommended to me by my therapist.
= I go to the gym twice a week. | I work out at the gym two times per week.
= I run a small Etsy shop that sells candles. | I sell candles through my little Etsy store.
= I graduated from MIT in 2010. | My MIT graduation was in 2010.
= There are five people in my band. | My band has five members.
= I find horror films boring. | Scary movies bore me.
= I am on insulin for my diabetes. | I treat my diabetes with insulin.
= My parents divorced when I was nine. | I was nine when my parents split up.
= The one thing I can cook is risotto. | Risotto is the only dish I know how to make.
= Jess is my best friend. | My closest friend is Jess.
= My train leaves at quarter to seven. | My train departs at 6:45.
= I teach my nephew chess. | My nephew learns chess from me.
= My grandfather built our cabin. | Our cabin was built by my grandpa.
= Show me with curly red hair in the drawings. | In drawings I'd like to have red curly hair.
= I live five minutes from the beach. | The beach is five minutes from my place.
= I speak Welsh with my children. | With my kids I talk in Welsh.
= I'm the eldest of four siblings. | I have three siblings, all younger than me.
= My shift starts at 22:00. | I start my shift at ten pm.
= I've never been to Asia. | Asia is a continent I have never set foot in.
= Jazz helps me concentrate. | I focus better with jazz on.
= My apartment doesn't have a balcony. | There's no balcony at my flat.
= My uncle left me his stamp collection. | I inherited my uncle's stamp collection.
= Pierre introduced me to my wife. | I was introduced to my wife by Pierre.
= I'm vaccinated against yellow fever. | I have had my yellow fever shot.
= I run marathons. | I'm a marathon runner.
= My favorite author is Ursula Le Guin. | There's no writer I like more than Ursula Le Guin.
= I owe Dan fifty pounds. | Dan is owed £50 by me.
= I'd love a picture of a fox in the snow. | What I'd like is an image of a snowy scene with a fox.
= My manager approved my holiday. | My vacation was approved by my manager.
= I moved from Perth to Cairns last year. | Last year I relocated to Cairns from Perth.
= I'm a member of the local chess club. | I belong to the chess club in my town.
= My hearing is poor in the right ear. | I don't hear well with my right ear.
= I'm saving money to buy a caravan. | I am putting cash aside for a caravan purchase.
= My son is half as old as my daughter. | My daughter is twice as old as my son.
~ I like olives. | I don't like olives.
~ I have two cats. | I have three cats.
~ My birthday is May 4. | My birthday is May 14.
~ My sister is called Ella. | My sister is called Emma.
~ I lent my drill to Omar. | I borrowed a drill from Omar.
~ I want to move to Canada. | I moved to Canada.
~ I used to smoke. | I smoke.
~ My boyfriend is allergic to cats. | My boyfriend is allergic to cat food.
~ I work from home on Mondays. | I work from home on Tuesdays.
~ I live in Portland, Oregon. | I live in Portland, Maine.
~ Some of my friends are vegan. | All of my friends are vegan.
~ I have a dog. | I have a cat.
~ I play the piano. | I play the violin.
~ I like spicy food a little. | I like spicy food a lot.
~ My brother is older than me. | My brother is younger than me.
~ I stopped taking antidepressants. | I started taking antidepressants.
~ I'm going to quit my job. | I quit my job.
~ My mother looks after my daughter. | My daughter looks after my mother.
~ I get up at 6:30. | I get up at 7:30.
~ I taught Marco Italian. | Marco taught me Italian.
~ My left knee hurts. | My right knee hurts.
~ I always have breakfast. | I rarely have breakfast.
~ I'm allergic to penicillin. | I'm not allergic to penicillin.
~ I work for Lena. | Lena works for me.
~ My favorite season is spring. | My favorite season is autumn.
~ Please put a hat on me in pictures. | Please leave out hats on me in pictures.
~ My grandmother is from Crete. | My grandfather is from Crete.
~ I was a teacher. | I am a teacher.
~ I run 5 km every day. | I run 5 km every week.
~ I sold my motorbike to Greg. | Greg sold his motorbike to me.
~ I moved from Rome to Milan. | I moved from Milan to Rome.
~ I'm thinking about adopting a child. | I have adopted a child.
~ My wife plays tennis. | My wife's brother plays tennis.
~ I collect stamps. | I collect coins.
~ I'm 34 years old. | I'm 43 years old.
~ I take my tea with sugar. | I take my tea without sugar.
~ I hate my boss. | My boss hates me.
~ I can swim. | I can't swim.
~ I started at Siemens in 2015. | I left Siemens in 2015.
~ Draw me in manga style. | Draw me in pixel-art style.
~ My dad drives a bus. | My dad drives a truck.
~ I'm afraid of my horse. | My horse is afraid of me.
~ I have a master's degree in physics. | I have a bachelor's degree in physics.
~ My daughter goes to kindergarten. | My daughter will go to kindergarten next year.
~ I take ibuprofen for my back. | I take paracetamol for my back.
~ Both of my parents are retired. | One of my parents is retired.
~ I drink coffee before noon only. | I drink coffee after noon only.
~ I met my husband in Lisbon. | I married my husband in Lisbon.
~ My neighbor complained about me. | I complained about my neighbor.
~ I like working with children's books. | I like working with children.
~ I nearly won the race. | I won the race.
~ I forgot to feed the hamster. | I fed the hamster.
~ My flight is on Thursday morning. | My flight is on Thursday evening.
~ My blood pressure is too high. | My blood pressure is too low.
~ I paid Jim $200. | Jim paid me $200.
~ I prefer trains to planes. | I prefer planes to trains.
~ I have been divorced once. | I have been divorced twice.
~ I eat fish. | I eat fish except salmon.
~ I earn 3,000 euros before tax. | I earn 3,000 euros after tax.
~ I'm a cardiologist. | I'm seeing a cardiologist.
~ I would like a green background for my images. | I would like a blue background for my images.
~ My son is learning to drive. | My son has learned to drive.
~ I grew up in the north of Wales. | I grew up in the south of Wales.
~ I'm allergic to milk. | I'm allergic to silk.
~ Tom is my uncle. | Tom is my nephew.
~ I never work on weekends. | I only work on weekends.
~ My cousin Raj is getting married. | My cousin Ravi is getting married.
~ I'm renting my flat. | I'm renting out my flat.
~ I might have celiac disease. | I have celiac disease.
~ I plan to run the Berlin marathon. | I ran the Berlin marathon.
~ I love the book Dune. | I love the film Dune.
~ My roommate snores. | My roommate says I snore.
~ I live on the third floor. | I live on the thirteenth floor.
~ I gave my sister a kidney. | My sister gave me a kidney.
~ I've been living in Prague for six years. | I lived in Prague for six years.
~ My favorite drink is red wine. | My favorite drink is white wine.
~ My company has few employees abroad. | My company has no employees abroad.
~ I'm somewhat shy. | I'm extremely shy.
~ I got promoted in April. | I was laid off in April.
~ I wear contact lenses. | I used to wear contact lenses but not any longer.
~ I study Portuguese. | I teach Portuguese.
~ I want to be called Liz. | I don't want to be called Liz.
~ My house has a garden. | My house had a garden.
~ I always vote early. | I always vote late.
~ Kim and I are dating. | Kim and I are cousins.
~ My children speak Greek, but I don't. | I speak Greek, but my children don't.
~ I take the medicine before meals. | I take the medicine after meals.
~ I was born in 1991. | My brother was born in 1991.
~ I cut my own hair. | I cut my husband's hair.
~ I dislike being hugged by strangers. | I dislike being stared at by strangers.
# de
= Samstags gehe ich immer schwimmen. | Ich gehe samstags immer schwimmen.
= Ich bin Tischler von Beruf. | Ich arbeite als Tischler.
= Mein Hund heißt Fiete. | Ich habe einen Hund namens Fiete.
= Jana hat sich mein Zelt geliehen. | Ich habe Jana mein Zelt geliehen.
= Um halb sechs stehe ich auf. | Ich stehe um 5:30 Uhr auf.
= Vor Gewittern habe ich Angst. | Gewitter machen mir Angst.
~ Ich mag Rosenkohl. | Ich mag keinen Rosenkohl.
~ Ich habe zwei Söhne. | Ich habe drei Söhne.
~ Ich leihe meinem Bruder oft Geld. | Ich leihe mir oft Geld von meinem Bruder.
~ Ich will nach Hamburg ziehen. | Ich bin nach Hamburg gezogen.
~ Meine Tochter spielt Geige. | Meine Tochter spielt Klavier.
~ Mein Termin ist am 3. Juni. | Mein Termin ist am 13. Juni.
# fr
= J'habite à Nantes. | C'est à Nantes que j'habite.
= Je suis infirmière. | Je travaille comme infirmière.
= Ma couleur préférée est le vert. | Le vert est la couleur que j'aime le plus.
= Mon frère est plus âgé que moi. | Je suis plus jeune que mon frère.
= Je suis allergique aux arachides. | J'ai une allergie aux cacahuètes.
= Ma tante m'a offert cette montre. | Cette montre m'a été offerte par ma tante.
~ J'ai arrêté de fumer. | J'ai recommencé à fumer.
~ Mon fils s'appelle Hugo. | Mon fils s'appelle Théo.
~ Je travaille le matin. | Je travaille le soir.
~ Paul m'a prêté son vélo. | J'ai prêté mon vélo à Paul.
~ Tous mes collègues sont végétariens. | Quelques-uns de mes collègues sont végétariens.
~ Je vais acheter une maison. | Je viens d'acheter une maison.
# es
= Los jueves juego al pádel. | Juego al pádel los jueves.
= Me dan miedo las alturas. | Tengo miedo a las alturas.
= Mi marido es bombero. | Estoy casada con un bombero.
= Vendí mi coche a Raúl. | Raúl me compró el coche.
= Mi gata se llama Luna. | Tengo una gata que se llama Luna.
= Soy zurdo. | Soy una persona zurda.
~ Soy alérgica al gluten. | No soy alérgica al gluten.
~ Vivo en Valencia. | Vivo en Palencia.
~ Mi hermana cuida a mi madre. | Mi madre cuida a mi hermana.
~ Antes corría maratones. | Corro maratones.
~ Me gustan los perros. | Me gustan los perritos calientes.
~ Tengo la reunión a las cinco y media. | Tengo la reunión a las seis y media.
# it
= La mattina bevo solo tè. | Di mattina non bevo altro che tè.
= Il mio piatto preferito è la lasagna. | La lasagna è il piatto che mi piace di più.
= Mia figlia studia architettura. | Mia figlia è una studentessa di architettura.
= Mi fa male la schiena. | Ho mal di schiena.
= Il mio capo è Silvia. | Silvia è la mia responsabile al lavoro.
= Ho due figli. | I miei figli sono 2.
~ Mio nonno era siciliano. | Mio nonno era sardo.
~ Bevo il caffè con lo zucchero. | Bevo il caffè senza zucchero.
~ Vorrei imparare il tedesco. | Ho imparato il tedesco.
~ Ho venduto la moto a Piero. | Ho comprato la moto da Piero.
~ Mi fa male il ginocchio destro. | Mi fa male il ginocchio sinistro.
~ Abito al secondo piano. | Abito al settimo piano.
# pt
= Moro em Recife desde 2018. | Desde 2018 eu moro em Recife.
= Minha avó me criou. | Fui criado pela minha avó.
= Gosto de cozinhar. | Cozinhar é algo de que eu gosto.
= O meu carro é vermelho. | Tenho um carro vermelho.
= Sou dentista. | Minha profissão é dentista.
~ Eu como peixe. | Eu não como peixe.
~ Minha consulta é na terça. | Minha consulta é na quinta.
~ Meu chefe me odeia. | Eu odeio meu chefe.
~ Comecei a faculdade em 2020. | Terminei a faculdade em 2020.
~ Tenho um papagaio. | Tenho um canário.
# nl
= 's Avonds lees ik graag. | Ik lees graag in de avond.
= Mijn fiets is gestolen. | Iemand heeft mijn fiets gestolen.
= Ik ben jonger dan mijn zus Eva. | Mijn zus Eva is ouder dan ik.
= Ik eet geen vlees. | Vlees eet ik niet.
= Ik sta om kwart voor zeven op. | Om 6:45 sta ik op.
~ Ik werk soms thuis. | Ik werk altijd thuis.
~ Mijn vader is buschauffeur. | Mijn vader was buschauffeur.
~ Ik ben bang voor honden. | Ik ben bang voor paarden.
~ Ik verhuur mijn appartement. | Ik huur mijn appartement.
~ Teken mij met een baard. | Teken mij zonder baard.
# pl
= W soboty chodzę na basen. | Chodzę na basen w soboty.
= Pracuję jako księgowa. | Z zawodu jestem księgową.
= Mój pies wabi się Reksio. | Mam psa o imieniu Reksio.
= Boję się pająków. | Pająki budzą we mnie strach.
= Mieszkam w Gdyni. | Moim miejscem zamieszkania jest Gdynia.
~ Lubię gotować. | Nie lubię gotować.
~ Moja siostra jest starsza ode mnie. | Moja siostra jest młodsza ode mnie.
~ Rzuciłem palenie. | Chcę rzucić palenie.
~ Pochodzę z Lublina. | Pochodzę z Lubina.
~ Mam czworo wnuków. | Mam pięcioro wnuków.
# ru
= По вечерам я играю в шахматы. | Я играю в шахматы по вечерам.
= У меня аллергия на пыльцу. | Я аллергик, реагирую на пыльцу.
= Мою кошку зовут Муся. | У меня есть кошка по имени Муся.
= Я работаю переводчиком. | Моя профессия — переводчик.
= Этот дом построил мой дед. | Этот дом построен моим дедом.
= Мне нравится осень больше других времён года. | Осень — моё любимое время года.
~ Я пью чай с молоком. | Я пью чай с лимоном.
~ Я собираюсь выйти замуж. | Я вышла замуж.
~ Мой сын боится учителя. | Учитель боится моего сына.
~ Я родился в 1985 году. | Я родился в 1995 году.
~ Я иногда опаздываю на работу. | Я никогда не опаздываю на работу.
~ Я переехал из Казани в Самару. | Я переехал из Самары в Казань.
# tr
= Pazar günleri balığa giderim. | Balığa pazar günleri giderim.
= Mesleğim öğretmenlik. | Öğretmen olarak çalışıyorum.
= Köpeğimin adı Karabaş. | Karabaş adında bir köpeğim var.
= En sevdiğim renk mor. | Mor, en çok sevdiğim renktir.
= Ablam benden üç yaş büyük. | Ablamdan üç yaş küçüğüm.
~ Balık severim. | Balık sevmem.
~ Kardeşimin adı Murat. | Kardeşimin adı Mert.
~ Ankara'ya taşındım. | Ankara'ya taşınacağım.
~ Annem bana borç verdi. | Anneme borç verdim.
~ Arkadaşlarımın hepsi evli. | Arkadaşlarımın bazıları evli.
# ja
= 毎朝6時半に起きます。 | 起きるのは毎朝6:30です。
= 犬の名前はハチです。 | ハチという名前の犬を飼っています。
= 私は地震が怖い。 | 地震は私にとって怖いものです。
= 好きな食べ物は寿司が一番です。 | 一番好きな食べ物は寿司です。
= 兄に車を貸した。 | 兄は私から車を借りた。
~ 猫を二匹飼っています。 | 猫を三匹飼っています。
~ 弟は大阪に住んでいる。 | 弟は大阪に住んでいた。
~ 辛いものが好きです。 | 辛いものが苦手です。
~ 友達にギターを教えている。 | 友達にギターを教わっている。
~ 水曜日にヨガをします。 | 金曜日にヨガをします。
# zh
= 我住在成都。 | 成都是我住的地方。
= 我对海鲜过敏。 | 我吃海鲜会过敏。
= 我最喜欢的运动是羽毛球。 | 羽毛球是我最爱的运动。
= 我的工作是护士。 | 我是一名护士。
= 我每天早上七点半起床。 | 每天早晨7:30我起床。
~ 我喜欢吃香菜。 | 我不喜欢吃香菜。
~ 我借给小李五百块。 | 我向小李借了五百块。
~ 我想学开车。 | 我学会开车了。
~ 我女儿今年六岁。 | 我女儿今年九岁。
~ 我在南京工作。 | 我在北京工作。
`;
