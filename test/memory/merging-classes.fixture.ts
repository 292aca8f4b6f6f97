/**
 * Pairs by class in the 12 languages of most users: the same fact (=) in another order, in small variants or in other words, and
 * near misses (~). The tables of `canonical.json` are tuned on all of them; see merging.fixture.ts.
 */
export const classes = `
# en
= I really like jazz. | I like jazz a lot.
= I love hiking. | I really love hiking.
= I usually go to bed around eleven. | I go to bed around 11.
= I usually work from home. | I mostly work from home.
= I'm a vegetarian. | I don't eat meat or fish.
= I'm vegan. | I don't eat any animal products.
= My wife and I got married in 2015. | 2015 was the year I married my wife.
= We got married in 2015. | My husband and I married in 2015.
= I teach chemistry at a high school. | I'm a high school chemistry teacher.
= My job is teaching math at a middle school. | I'm a math teacher at a middle school.
= I can't stand cilantro. | I hate the taste of cilantro.
= I hate flying. | I can't stand flying.
= I have a sister called Mia. | My sister is named Mia.
= I have a daughter named Zoe. | Zoe is my daughter.
= I own a cat. | I have a cat.
= I'm studying law. | I study law.
= I have 2 kids. | I've got two kids.
= I drive to work. | I go to work by car.
= I'm fluent in German. | I speak German fluently.
= I can't swim. | I don't know how to swim.
= I have celiac disease. | I'm celiac.
= I'm diabetic. | I have diabetes.
= I'm lactose intolerant. | I can't tolerate lactose.
= I have an allergy to shellfish. | I'm allergic to shellfish.
= I can't eat peanuts because I'm allergic. | I'm allergic to peanuts.
= I quit smoking in 2020. | I stopped smoking in 2020.
= I'm 29. | I'm 29 years old.
= I live by myself. | I live alone.
= My birthday is on June 4th. | I was born on June 4.
= I'm an electrician by trade. | I work as an electrician.
= I'm afraid of heights. | Heights scare me.
= I go to the gym three times a week. | Three times a week I go to the gym.
= I go running every morning. | Every morning I run.
= I'm a night owl. | I like to stay up late.
= I'm an only child. | I don't have any siblings.
= I don't own a car. | I don't have a car.
= My favorite food is sushi. | Sushi is the food I like most.
= I'm from Texas. | I come from Texas.
= I play the guitar. | I play guitar.
= I'm left-handed. | I write with my left hand.
= I take the bus to work. | I go to work by bus.
= I have a degree in biology. | My degree is in biology.
= My mom's a nurse. | My mother works as a nurse.
= I enjoy cooking. | I like to cook.
= I've lived in Denver since 2018. | Since 2018 I've been living in Denver.
= In the evenings I read sci-fi. | I read sci-fi in the evenings.
= Once a month my brother visits us. | My brother visits us once a month.
= My least favorite subject was math. | Math was my least favorite subject.
= At the moment I'm reading Dune. | I'm reading Dune at the moment.
= I've got a peanut allergy. | I have a peanut allergy.
= I'm gonna be a dad in May. | I'm going to be a dad in May.
= I do not like olives. | I don't like olives at all.
= I'm scared of the dark. | I'm afraid of the dark.
= My sister has 3 kids. | My sister has three children.
= I take the train to work every day. | Every day I take the train to work.
= I'm a huge fan of the Lakers. | I love the Lakers.
= I don't drink coffee. | I never drink coffee.
= I eat breakfast at 7. | I have breakfast at seven.
= I live in a small apartment. | I live in a small flat.
= I grew up in Ohio. | I was raised in Ohio.
= I work as a barista. | My job is being a barista.
= I wear glasses. | I'm wearing glasses.
= I got divorced last year. | Last year I got divorced.
= I don't have kids. | I have no children.
= My husband's name is Omar. | I'm married to Omar.
= My partner's a vet. | My partner works as a vet.
= I was born in Lima. | Lima is where I was born.
= I have insomnia. | I suffer from insomnia.
= I drive a Toyota. | My car is a Toyota.
= I am 34 years old. | I'm 34.
= I'm learning to play the piano. | I'm learning piano.
= I have a hard time falling asleep. | Falling asleep is hard for me.
= I moved to Seattle in 2019. | In 2019 I moved to Seattle.
= I speak Spanish and French. | I speak French and Spanish.
= I hate getting up early. | I hate to get up early.
= I prefer tea to coffee. | I like tea better than coffee.
= I'm not able to drive. | I can't drive.
= My mother tongue is Farsi. | I'm a native Farsi speaker.
= My roommate is called Jess. | I have a roommate named Jess.
= I am a member of a book club. | I'm in a book club.
= I can't eat dairy. | I can't have dairy products.
= Our cat is 12 years old. | We have a twelve-year-old cat.
= I volunteer at an animal shelter. | I do volunteer work at an animal shelter.
= Before bed I always read. | I always read before bed.
= For breakfast I usually have oatmeal. | I usually have oatmeal for breakfast.
= Every Friday night we order pizza. | We order pizza every Friday night.
= My go-to karaoke song is Africa by Toto. | Africa by Toto is my go-to karaoke song.
= Green is my favorite color. | My favorite color's green.
= I'm a stay-at-home dad. | I am a stay at home dad.
= I really hate olives. | I hate olives.
= I can't stand my commute. | I hate my commute.
= I've been playing chess for ten years. | I have been playing chess for 10 years.
= I'm not a morning person. | I am not a morning person.
= My daughter's 8. | My daughter is eight.
= My grandpa is 90 years old. | My grandfather is 90.
= I drink a lot of coffee. | I drink lots of coffee.
= I'm currently living in Prague. | I live in Prague.
= I work part-time at a bookstore. | I'm working part time at a bookstore.
= I do yoga every day. | I practice yoga daily.
= I'm into photography. | I like photography.
= I love to travel. | I love traveling.
= My son has asthma. | My son is asthmatic.
= I have a fear of spiders. | Spiders terrify me.
= My anniversary is July 9. | July 9 is my anniversary.
= I have a brother who lives in Tokyo. | My brother lives in Tokyo.
= I have curly hair. | My hair is curly.
= My eyes are green. | I have green eyes.
= My apartment is on the third floor. | I live on the third floor.
= I run a small bakery. | I own a small bakery.
= I've got a gluten intolerance. | I'm gluten intolerant.
= My dad's from Cuba. | My father comes from Cuba.
= I don't like horror movies. | I'm not a fan of scary movies.
= I'm on a low-carb diet. | I follow a low-carb diet.
= I retired in 2020. | I've been retired since 2020.
= In the summer, I work at a camp. | I work at a camp in the summer.
= My dream destination is Iceland. | Iceland is my dream destination.
= Twice a year we visit Greece. | We visit Greece twice a year.
= I've never smoked. | I have never smoked.
= My parents' names are Bob and Linda. | My parents are called Bob and Linda.
= I don't do well with heat. | I do not do well with heat.
= I'm 5'6" tall. | I am 5'6" tall.
= I can't drink milk. | I cannot drink milk.
= I speak a little Japanese. | I can speak a little Japanese.
= My favorite thing to cook is lasagna. | Lasagna is my favorite thing to cook.
= I usually skip breakfast. | I usually don't eat breakfast.
= I'm pretty shy. | I'm shy.
= My hobby is gardening. | Gardening is my hobby.
= I have a dog and two cats. | I have two cats and a dog.
= I work remotely. | I work from home.
= I'm a freelance designer. | I work as a freelance designer.
= I take my tea without sugar. | I drink my tea without sugar.
= My shoe size is 42. | I wear size 42 shoes.
= I'm terrified of needles. | I have a fear of needles.
= My kids go to public school. | My children go to public school.
= I have an older sister. | I've got an older sister.
= I was raised by my grandmother. | My grandmother raised me.
= I don't really like beer. | I don't like beer.
= I'm single. | I don't have a boyfriend.
= I'm self-employed. | I run my own business.
= I'm nearsighted. | I'm short-sighted.
= I have a sweet tooth. | I love sweets.
= I'm an avid reader. | I love to read.
= I'm a cat owner. | I have a cat.
= I never learned to swim. | I can't swim.
= I have three grandkids. | I'm a grandmother of three.
= Horror movies are not my thing. | I don't like horror movies.
= Honestly, I hate olives. | I hate olives.
= My commute takes around 30 minutes. | My commute takes roughly thirty minutes.
= I lost my father last year. | My dad passed away last year.
= I'm thirty-four. | I'm 34.
= I became a vegetarian in 2015. | I've been a vegetarian since 2015.
= I still live with my parents. | I live at my parents' house.
~ I have a daughter. | I have a daughter from my first marriage.
~ I have a dog. | I have a dog with three legs.
~ I have a dentist. | I am a dentist.
~ I'm a teacher. | I have a teacher.
~ I teach chemistry at a high school. | I study chemistry at a high school.
~ I teach chemistry at a high school. | My sister teaches chemistry at a high school.
~ I'm a high school chemistry teacher. | I had a high school chemistry teacher.
~ I'm a high school chemistry teacher. | I'm a high school physics teacher.
~ My wife and I got married in 2015. | My wife and I got divorced in 2015.
~ My wife and I got married in 2015. | My wife and I met in 2015.
~ My sister got married in 2015. | I got married in 2015.
~ We got married in 2015. | We are getting married in 2025.
~ I don't eat meat. | I don't eat fish.
~ I'm a vegetarian. | I'm a vegan.
~ I'm a vegetarian. | My brother is a vegetarian.
~ I was a vegetarian. | I'm a vegetarian.
~ I hate the taste of cilantro. | I hate the smell of cilantro.
~ I can't stand my boss. | My boss can't stand me.
~ I go to bed around eleven. | I go to bed around twelve.
~ I get up around eleven. | I go to bed around eleven.
~ I like jazz. | I used to like jazz.
~ I like jazz a lot. | I don't like jazz a lot.
~ I like jazz. | I like jazz more than blues.
~ I often cook. | I never cook.
~ I work from home. | I want to work from home.
~ I usually work from home. | I sometimes work from home.
~ I have two cats. | My neighbor has two cats.
~ I have celiac disease. | My son has celiac disease.
~ I'm allergic to peanuts. | I'm not allergic to peanuts.
~ I'm allergic to cats. | My cat is allergic.
~ Zoe is my daughter. | Zoe has a daughter.
~ My sister is named Mia. | My sister has a daughter named Mia.
~ I drive to work. | My wife drives me to work.
~ I quit smoking in 2020. | I quit smoking in 2021.
~ I quit smoking in 2020. | I started smoking in 2020.
~ I speak German fluently. | I don't speak German fluently.
~ I speak German. | I am learning German.
~ I can't swim. | I can swim.
~ I'm studying law. | I'm going to study law.
~ I study law. | I studied law.
~ I was born on June 4. | My daughter was born on June 4.
~ My dog is a beagle. | My dog is a poodle.
~ I have a beagle. | My dad has a beagle.
~ I am left-handed. | I am right-handed.
~ I live alone. | I don't live alone.
~ I have a car. | I don't have a car.
~ I like cats. | I have cats.
~ My favorite food is sushi. | My wife's favorite food is sushi.
~ I run every morning. | I run every evening.
~ I'm a doctor. | I'm married to a doctor.
~ I have a degree in biology. | I teach biology.
~ I read sci-fi in the evenings. | I write sci-fi in the evenings.
~ My brother visits us once a month. | We visit my brother once a month.
~ My favorite subject was math. | My least favorite subject was math.
~ I'm going to be a dad in May. | My brother is going to be a dad in May.
~ I'm afraid of the dark. | I'm not afraid of the dark.
~ My sister has 3 kids. | My sister's friend has 3 kids.
~ I take the train to work. | I take the bus to work.
~ I have breakfast at seven. | I have dinner at seven.
~ I grew up in Ohio. | I work in Ohio.
~ I got divorced last year. | I got married last year.
~ My husband's name is Omar. | My husband's brother's name is Omar.
~ I'm married to Omar. | I was married to Omar.
~ I moved to Seattle in 2019. | I moved from Seattle in 2019.
~ I prefer tea to coffee. | I prefer coffee to tea.
~ I hate getting up early. | I hate getting up late.
~ I'm learning piano. | I teach piano.
~ I'm learning piano. | I want to learn piano.
~ I always eat breakfast. | I sometimes eat breakfast.
~ I eat meat only on Sundays. | I eat meat on Sundays.
~ My cat is named Luna. | My cat's vet is named Luna.
~ My wife's brother is a chef. | My brother's wife is a chef.
~ I lived in Boston. | I live in Boston.
~ I'm thinking of quitting my job. | I quit my job.
~ I have an appointment at 3. | I have an appointment at 4.
~ I was born in Lima. | I live in Lima.
~ I can't drive. | I don't like to drive.
~ I have to wear glasses. | I don't have to wear glasses.
~ I work out before breakfast. | I work out after breakfast.
~ I own a bakery. | I work in a bakery.
~ I'm a chef. | I know a chef.
~ I have a boyfriend. | I have an ex-boyfriend.
~ I like hot coffee. | I like iced coffee.
~ I'm allergic to cats and dogs. | I'm allergic to cats.
~ My son is 5. | My son is 6.
~ I usually take the bus. | I never take the bus.
~ I speak Spanish. | I understand Spanish.
~ I suffer from insomnia. | I suffered from insomnia.
~ I cook for my parents. | My parents cook for me.
~ I borrowed money from Tom. | Tom borrowed money from me.
~ I might move to Texas. | I moved to Texas.
~ My boss is older than me. | I'm older than my boss.
~ I like my mom's cooking. | My mom likes my cooking.
~ I'm vegan. | I'm not vegan.
~ I have two sisters. | I have two brothers.
~ I don't like cats. | I don't have cats.
~ I work nights. | I work days.
~ I own a house. | I want to own a house.
~ I got married in 2015. | I got engaged in 2015.
~ I wed in June. | My son got married in June.
~ My daughter and I married in 2015. | My wife and I married in 2015.
~ I'm a math teacher. | I hate my math teacher.
~ I teach math at a middle school. | I teach at a middle school.
~ I like teaching. | I like teachers.
~ I have a wife. | I have a husband.
~ I drive to work. | I drive for work.
~ I don't smoke. | I no longer smoke.
~ I never eat meat. | I no longer eat meat.
~ Je n'ai plus de voiture. | Je n'ai plus qu'une voiture.
~ Non ho più la macchina. | Non ho più che una macchina.
~ Não tenho mais carro. | Não tenho mais que um carro.
~ Ya no tengo coche. | Ya no tengo más que un coche.
~ I have a brother who lives in Tokyo. | I have a brother who works in Tokyo.
~ My son has asthma. | My son had asthma.
~ I don't like horror movies. | I don't watch horror movies.
~ I run a small bakery. | I ran a small bakery.
~ My dad's from Cuba. | My dad's friend is from Cuba.
~ I drink a lot of coffee. | I drink a lot of tea.
~ I'm an accountant. | My accountant is great.
~ I always read before bed. | I never read before bed.
~ We order pizza every Friday night. | They order pizza every Friday night.
~ I used to live in Prague. | I live in Prague.
~ I've never eaten sushi. | I've eaten sushi.
~ My brother lives in Tokyo. | My brother's wife lives in Tokyo.
~ I retired in 2020. | I'm retiring in 2030.
~ I'm gluten intolerant. | I'm lactose intolerant.
~ I like photography. | I studied photography.
~ Kim's brother is a dentist. | Kim is my brother's dentist.
~ I trust my doctor. | My doctor trusts me.
~ I'd love to travel. | I love to travel.
~ I love to travel. | I hate to travel.
~ I'm shy. | I'm not shy.
~ I was raised by my grandmother. | I was raised by my aunt.
~ My grandmother raised me. | My grandmother visits me.
~ I have an older sister. | I have a younger sister.
~ I work as a freelance designer. | I hired a freelance designer.
~ I have a dog and two cats. | I have a cat and two dogs.
~ I can't drink milk. | I don't like milk.
~ I speak a little Japanese. | I speak Japanese fluently.
~ I had never smoked. | I have never smoked.
~ We visit Greece twice a year. | We visit Greece once a year.
~ I always skip breakfast. | I usually skip breakfast.
~ I'm single. | I'm not single.
~ I'm single. | My brother is single.
~ I don't have a boyfriend. | I don't have a car.
~ I'm self-employed. | My wife is self-employed.
~ I run my own business. | I want to run my own business.
~ I'm nearsighted. | I'm farsighted.
~ I have a sweet tooth. | I hate sweets.
~ I love to read. | I love to write.
~ I'm a cat owner. | I'm a dog owner.
~ I have a cat. | My cat has a cat.
~ I can't swim. | I can't drive.
~ I have three grandkids. | I have three kids.
~ I sleep badly. | My baby sleeps badly.
~ I'm shy. | I was shy.
~ I can speak French. | I can't speak French.
~ I don't drink alcohol. | I don't drink coffee.
~ Spicy food is too much for me. | I like spicy food.
~ I get up early. | I stay up late.
~ I have a cat and two dogs. | I have two cats and a dog.
~ I was single. | I'm single.
~ I lost my father last year. | I lost my mother last year.
~ I lost my wallet last year. | My dad passed away last year.
~ I'm thirty-four. | I'm forty-three.
~ My commute takes about 30 minutes. | My commute takes about 40 minutes.
~ I live with my parents. | My parents live with my sister.
~ I became a vegetarian in 2015. | I became a vegan in 2015.
~ I'm unemployed. | I'm employed.
# de
= Ich habe einen Hund. | Ich hab einen Hund.
= Ich hab 'ne Katze. | Ich habe eine Katze.
= Ich arbeite meistens von zu Hause aus. | Ich arbeite meist von zuhause.
= Ich arbeite meistens zu Hause. | Ich arbeite meistens zuhause.
= Ich mag Jazz sehr. | Ich mag Jazz sehr gern.
= Ich mag Jazz. | Ich mag Jazz wirklich sehr.
= Nüsse vertrage ich nicht, ich bin dagegen allergisch. | Ich habe eine Nussallergie.
= Ich bin gegen Erdnüsse allergisch. | Ich habe eine Erdnussallergie.
= Ich bin Krankenpfleger von Beruf. | Ich arbeite als Krankenpfleger.
= Ich unterrichte Mathe an einer Realschule. | Ich bin Mathelehrerin an einer Realschule.
= Ich habe Zöliakie. | Bei mir wurde Zöliakie diagnostiziert.
= Ich bin Diabetiker. | Ich habe Diabetes.
= Ich habe zwei Kinder. | Ich habe 2 Kinder.
= Meine Tochter heißt Lena. | Ich habe eine Tochter namens Lena.
= Meine Tochter heißt Lena. | Lena ist meine Tochter.
= Ich hasse Rosenkohl. | Ich kann Rosenkohl nicht ausstehen.
= Ich hasse Rosenkohl. | Rosenkohl kann ich nicht leiden.
= Ich fahre mit dem Auto zur Arbeit. | Zur Arbeit fahre ich mit dem Auto.
= Ich trinke keinen Alkohol. | Alkohol trinke ich nicht.
= Ich esse kein Fleisch. | Ich bin Vegetarier.
= Ich bin Vegetarierin. | Ich ernähre mich vegetarisch.
= Seit 2018 wohne ich in Hamburg. | Ich lebe seit 2018 in Hamburg.
= Ich habe am 3. März Geburtstag. | Mein Geburtstag ist am 3. März.
= Meine Muttersprache ist Polnisch. | Polnisch ist meine Muttersprache.
= Ich kann nicht schwimmen. | Schwimmen kann ich nicht.
= Ich gehe normalerweise um elf ins Bett. | Normalerweise gehe ich um 11 ins Bett.
= Meine Mama ist Lehrerin. | Meine Mutter arbeitet als Lehrerin.
= Jeden Dienstag spiele ich Tennis. | Dienstags spiele ich Tennis.
= Ich bin laktoseintolerant. | Ich habe eine Laktoseintoleranz.
= Ich geh jeden Sonntag joggen. | Ich gehe jeden Sonntag joggen.
= Ich darf keine Erdnüsse essen, weil ich allergisch bin. | Ich bin allergisch gegen Erdnüsse.
= Wir haben 2015 geheiratet. | Meine Frau und ich haben 2015 geheiratet.
= Ich bin Grundschullehrerin. | Ich unterrichte an einer Grundschule.
= Am Wochenende wandere ich gern. | Ich wandere gern am Wochenende.
= Seit drei Jahren lerne ich Spanisch. | Ich lerne seit drei Jahren Spanisch.
= Mein Lieblingstier ist die Eule. | Die Eule ist mein Lieblingstier.
= Ich hab keine Geschwister. | Ich habe keine Geschwister.
= Ich wohne in München. | Ich lebe in München.
= Ich bin 34 Jahre alt. | Ich bin 34.
= Ich finde Horrorfilme furchtbar. | Horrorfilme finde ich furchtbar.
= Ich komme aus Österreich. | Ich stamme aus Österreich.
= Ich spreche fließend Italienisch. | Italienisch spreche ich fließend.
= Ich rauche nicht. | Ich bin Nichtraucher.
= Mein Mann heißt Jonas. | Ich habe einen Mann, der Jonas heißt.
= Ich bin mit Jonas verheiratet. | Mein Mann heißt Jonas.
= Ich habe Höhenangst. | Ich habe Angst vor Höhe.
= Ich vertrage keine Milch. | Milch vertrage ich nicht.
= Ich gehe gern ins Kino. | Ins Kino gehe ich gern.
= Ich arbeite als Lehrer. | Ich bin Lehrer.
= Ich kann kein Blut sehen. | Blut kann ich nicht sehen.
= Mein Sohn ist sechs. | Mein Sohn ist 6 Jahre alt.
= Ich mag keine Oliven. | Oliven mag ich nicht.
= Jeden Morgen trinke ich Kaffee. | Ich trinke jeden Morgen einen Kaffee.
= Abends lese ich oft. | Ich lese abends oft.
= Ich bin gerade in Elternzeit. | Ich bin in Elternzeit.
= Meine Oma ist 90. | Meine Großmutter ist neunzig Jahre alt.
= Ich habe einen Bruder, der in Wien wohnt. | Mein Bruder wohnt in Wien.
= Ich trinke viel Kaffee. | Kaffee trinke ich viel.
= Ich wohne allein. | Ich lebe alleine.
= Ich reise gern. | Ich reise sehr gerne.
= Ich bin Linkshänder. | Ich schreibe mit links.
= Ich besitze ein Motorrad. | Ich habe ein Motorrad.
= Seit 2020 bin ich in Rente. | Ich bin seit 2020 in Rente.
= Mein Sohn hat Asthma. | Mein Sohn ist Asthmatiker.
= Ich fahre mit dem Rad zur Arbeit. | Ich fahre mit dem Fahrrad zur Arbeit.
= Ich habe blaue Augen. | Meine Augen sind blau.
= Ich studiere Jura. | Ich bin Jurastudent.
= Ich jogge jeden Morgen. | Jeden Morgen gehe ich joggen.
= Im Sommer arbeite ich im Freibad. | Ich arbeite im Sommer im Freibad.
= Zweimal im Monat gehe ich ins Theater. | Ich gehe zweimal im Monat ins Theater.
= Ich kann Auto fahren. | Ich kann Autofahren.
= Ich finde Regen schön. | Regen finde ich schön.
= Meine Eltern heißen Uwe und Petra. | Meine Eltern heißen Petra und Uwe.
= Ich hab Angst vor Spinnen. | Ich habe Angst vor Spinnen.
= Mein Hobby ist Gärtnern. | Gärtnern ist mein Hobby.
= Ich bin 1,80 m groß. | Ich bin 1,80 Meter groß.
= Meine Schwester arbeitet als Ärztin. | Meine Schwester ist Ärztin.
= Ich bin selbstständig. | Ich habe meine eigene Firma.
= Ich bin eine Leseratte. | Ich lese gern.
= Ich bin Frühaufsteher. | Ich stehe früh auf.
= Ich trinke nicht. | Ich trinke keinen Alkohol.
= Ich nehme den Bus zur Arbeit. | Ich fahre mit dem Bus zur Arbeit.
= Ich bin Single. | Ich habe keine Freundin.
= Ich bin vierunddreißig Jahre alt. | Ich bin 34 Jahre alt.
= Ehrlich gesagt mag ich Jazz. | Ich mag Jazz.
= Ich jogge ungefähr 5 km. | Ich jogge etwa 5 km.
~ Mein Vater hilft meinem Onkel im Laden. | Meinem Vater hilft mein Onkel im Laden.
~ Der Hund beißt den Nachbarn. | Den Hund beißt der Nachbar.
~ Meine Mutter hilft meiner Tante. | Meiner Mutter hilft meine Tante.
~ Mein Bruder besucht meinen Opa. | Meinen Bruder besucht mein Opa.
~ Der Onkel hilft dem Vater. | Dem Onkel hilft der Vater.
~ Die Tante liebt die Mutter. | Die Mutter liebt die Tante.
~ Wir haben 2015 geheiratet. | Meine Eltern haben 2015 geheiratet.
~ Ich habe einen Hund. | Ich hatte einen Hund.
~ Ich habe einen Hund. | Ich hätte gern einen Hund.
~ Ich habe eine Nussallergie. | Mein Sohn hat eine Nussallergie.
~ Ich habe eine Nussallergie. | Ich habe keine Nussallergie.
~ Ich habe eine Tochter. | Ich habe eine Tochter aus erster Ehe.
~ Ich bin Zahnarzt. | Ich habe einen Zahnarzt.
~ Ich bin Mathelehrerin an einer Realschule. | Ich hatte eine Mathelehrerin an einer Realschule.
~ Ich unterrichte Mathe an einer Realschule. | Ich unterrichte Mathe an einem Gymnasium.
~ Ich arbeite zu Hause. | Ich arbeite nicht zu Hause.
~ Meine Tochter heißt Lena. | Die Tochter meiner Schwester heißt Lena.
~ Ich hasse Rosenkohl. | Meine Frau hasst Rosenkohl.
~ Ich esse kein Fleisch. | Ich esse keinen Fisch.
~ Ich bin Vegetarier. | Ich bin kein Vegetarier.
~ Ich trinke gern Bier. | Ich trinke ungern Bier.
~ Ich kann nicht schwimmen. | Ich kann schwimmen.
~ Ich gehe um elf ins Bett. | Ich gehe um zwölf ins Bett.
~ Ich fahre mit dem Auto zur Arbeit. | Ich fahre mit dem Bus zur Arbeit.
~ Ich habe Diabetes. | Mein Vater hat Diabetes.
~ Ich mag Jazz. | Ich mochte Jazz.
~ Ich lerne Polnisch. | Meine Muttersprache ist Polnisch.
~ Ich wandere gern am Wochenende. | Ich wandere ungern am Wochenende.
~ Ich lerne seit drei Jahren Spanisch. | Ich lerne seit vier Jahren Spanisch.
~ Ich wohne in München. | Ich arbeite in München.
~ Mein Mann heißt Jonas. | Mein Bruder heißt Jonas.
~ Ich mag keine Oliven. | Ich mag Oliven.
~ Ich trinke Tee lieber als Kaffee. | Ich trinke Kaffee lieber als Tee.
~ Ich wollte Arzt werden. | Ich bin Arzt.
~ Ich muss um sechs aufstehen. | Ich muss um sieben aufstehen.
~ Mein Hund hat Angst vor der Katze. | Meine Katze hat Angst vor dem Hund.
~ Ich habe meinem Bruder Geld geliehen. | Mein Bruder hat mir Geld geliehen.
~ Meine Frau kocht für mich. | Ich koche für meine Frau.
~ Mein Sohn ist sechs. | Mein Sohn war sechs.
~ Ich bin Lehrer. | Ich kenne einen Lehrer.
~ Ich komme aus Österreich. | Ich fahre nach Österreich.
~ Der Chef mag den Kollegen. | Den Chef mag der Kollege.
~ Ich jogge vor der Arbeit. | Ich jogge nach der Arbeit.
~ Ich trinke nie Alkohol. | Ich trinke selten Alkohol.
~ Meine Tochter spielt Geige. | Meine Tochter möchte Geige spielen.
~ Ich habe zwei Brüder. | Ich habe zwei Schwestern.
~ Ich rauche nicht. | Ich rauche nicht mehr.
~ Mein Bruder wohnt in Wien. | Mein Bruder arbeitet in Wien.
~ Ich habe einen Bruder, der in Wien wohnt. | Ich habe eine Schwester, die in Wien wohnt.
~ Ich besitze ein Motorrad. | Ich möchte ein Motorrad.
~ Ich studiere Jura. | Ich habe Jura studiert.
~ Ich reise gern. | Ich würde gern reisen.
~ Mein Sohn hat Asthma. | Mein Sohn hatte Asthma.
~ Meine Augen sind blau. | Meine Augen sind grün.
~ Meine Schwester ist Ärztin. | Meine Schwester war Ärztin.
~ Ich arbeite im Sommer im Freibad. | Ich arbeite im Winter im Freibad.
~ Ich finde Regen schön. | Ich finde Schnee schön.
~ Ich helfe meinem Bruder. | Mein Bruder hilft mir.
~ Ich kann Auto fahren. | Ich darf Auto fahren.
~ Ich bin selbstständig. | Ich war selbstständig.
~ Ich lese gern. | Ich schreibe gern.
~ Ich stehe früh auf. | Ich stehe spät auf.
~ Ich nehme den Bus zur Arbeit. | Ich nehme den Zug zur Arbeit.
~ Ich bin Single. | Ich bin kein Single.
~ Ich habe eine Freundin. | Ich habe keine Freundin.
~ Ich bin kurzsichtig. | Ich bin weitsichtig.
~ Ich bin vierunddreißig Jahre alt. | Ich bin dreiundvierzig Jahre alt.
~ Ich bin 34. | Ich bin 43.
# fr
= Je suis prof de maths dans un collège. | J'enseigne les maths au collège.
= Je suis prof d'anglais. | J'enseigne l'anglais.
= J'adore le chocolat. | J'aime énormément le chocolat.
= J'aime beaucoup le jazz. | J'aime vraiment le jazz.
= Je bois pas d'alcool. | Je ne bois pas d'alcool.
= J'ai deux enfants. | J'ai 2 enfants.
= J'ai un chat. | J'possède un chat.
= Je déteste les champignons. | Je ne supporte pas les champignons.
= Je déteste les champignons. | J'ai horreur des champignons.
= Je suis allergique au gluten. | J'ai une allergie au gluten.
= Je suis cœliaque. | J'ai la maladie cœliaque.
= Je suis diabétique. | J'ai du diabète.
= Je suis végétarien. | Je ne mange pas de viande.
= Ma fille s'appelle Chloé. | J'ai une fille prénommée Chloé.
= Ma fille s'appelle Chloé. | Chloé est ma fille.
= Je travaille comme infirmière. | Je suis infirmière.
= Je suis plombier de métier. | Mon métier, c'est plombier.
= Je suis née le 4 juin. | Mon anniversaire est le 4 juin.
= D'habitude je me couche à onze heures. | Je me couche d'habitude à 11 heures.
= Je travaille de chez moi. | Je travaille à la maison.
= Je suis en train d'apprendre le japonais. | J'apprends le japonais.
= Je vais au travail en voiture. | Je vais au boulot en voiture.
= Moi, j'ai trois frères. | J'ai trois frères.
= Le café, j'aime pas ça. | Je n'aime pas le café.
= On s'est mariés en 2015. | Ma femme et moi nous sommes mariés en 2015.
= Tous les matins, je fais du yoga. | Je fais du yoga tous les matins.
= Mon film préféré est Amélie. | Amélie est mon film préféré.
= J'ai pas de voiture. | Je n'ai pas de voiture.
= Je suis née en 1990. | Mon année de naissance est 1990.
= J'ai trente ans. | J'ai 30 ans.
= Je parle couramment anglais. | Je parle anglais couramment.
= Je suis fille unique. | Je n'ai pas de frères et sœurs.
= J'ai peur des araignées. | Les araignées me font peur.
= Mon mari s'appelle Paul. | Je suis mariée à Paul.
= Je viens de Belgique. | Je suis originaire de Belgique.
= Je ne fume pas. | Je suis non-fumeur.
= Je joue de la guitare. | Je fais de la guitare.
= J'ai deux sœurs. | J'ai 2 sœurs.
= Je bosse dans une banque. | Je travaille dans une banque.
= Je suis infirmière à l'hôpital. | Je travaille comme infirmière à l'hôpital.
= Je ne supporte pas le bruit. | Je déteste le bruit.
= Je prends un café tous les matins. | Je bois un café tous les matins.
= Le soir, je lis toujours. | Je lis toujours le soir.
= J'ai un frère qui habite à Lille. | Mon frère habite à Lille.
= Ma grand-mère a 90 ans. | Ma mamie a quatre-vingt-dix ans.
= Je vis seule. | J'habite seule.
= J'ai les yeux bleus. | Mes yeux sont bleus.
= Je fais du yoga deux fois par semaine. | Deux fois par semaine, je fais du yoga.
= Je cours tous les matins. | Chaque matin, je cours.
= J'étudie le droit. | Je suis étudiante en droit.
= Je suis gauchère. | J'écris de la main gauche.
= J'aime voyager. | J'adore voyager.
= Mon fils est asthmatique. | Mon fils a de l'asthme.
= J'ai une intolérance au lactose. | Je suis intolérante au lactose.
= En été, je travaille dans un camping. | Je travaille dans un camping en été.
= Mon loisir, c'est le jardinage. | Le jardinage, c'est mon loisir.
= Ma sœur travaille comme avocate. | Ma sœur est avocate.
= J'habite dans un petit appartement. | Je vis dans un petit appartement.
= J'ai un chien et deux chats. | J'ai deux chats et un chien.
= J'suis végétarienne. | Je suis végétarienne.
= Je n'aime pas du tout le poisson. | Je n'aime pas le poisson.
= Je bois du thé sans sucre. | Je prends mon thé sans sucre.
= Je suis célibataire. | Je n'ai pas de copine.
= Je me lève tôt. | Je suis matinale.
= Je dors mal. | J'ai du mal à dormir.
= Je vais au travail en bus. | Je prends le bus pour aller au travail.
= J'ai trente-quatre ans. | J'ai 34 ans.
= Franchement, je déteste le bruit. | Je déteste le bruit.
~ Je suis prof de maths dans un collège. | Je suis prof de maths dans un lycée.
~ J'enseigne les maths au collège. | J'étudie les maths au collège.
~ J'enseigne les maths au collège. | Mon frère enseigne les maths au collège.
~ Je suis dentiste. | J'ai un dentiste.
~ J'ai une fille. | J'ai une fille d'un premier mariage.
~ Je suis diabétique. | Mon père est diabétique.
~ Je suis diabétique. | Je ne suis pas diabétique.
~ J'aime le jazz. | J'aimais le jazz.
~ J'aime le café. | J'aime pas le café.
~ Je supporte les champignons. | Je ne supporte pas les champignons.
~ J'apprends le japonais. | Je vais apprendre le japonais.
~ Ma fille s'appelle Chloé. | La fille de Chloé s'appelle Emma.
~ Ma fille s'appelle Chloé. | Le chat de ma fille s'appelle Chloé.
~ On s'est mariés en 2015. | On a divorcé en 2015.
~ J'ai un chat. | J'ai eu un chat.
~ J'ai un chat. | Ma sœur a un chat.
~ J'ai deux enfants. | J'ai dix enfants.
~ Je me couche à onze heures. | Je me lève à onze heures.
~ Je suis végétarien. | Je ne suis plus végétarien.
~ Je travaille à la maison. | Je travaille à la mairie.
~ Je fais du yoga tous les matins. | Je fais du yoga tous les soirs.
~ Je parle anglais. | J'apprends l'anglais.
~ J'ai trente ans. | J'ai treize ans.
~ Mon mari s'appelle Paul. | Mon fils s'appelle Paul.
~ Je viens de Belgique. | Je vais en Belgique.
~ Ma mère garde ma fille. | Ma fille garde ma mère.
~ J'ai prêté ma voiture à Luc. | Luc m'a prêté sa voiture.
~ J'ai vendu ma maison. | Je vends ma maison.
~ Je travaille dans une banque. | Ma sœur travaille dans une banque.
~ Je voudrais un chat. | J'ai un chat.
~ Je mange rarement du poisson. | Je mange souvent du poisson.
~ Je ne bois jamais de vin. | Je ne bois plus de vin.
~ J'ai deux sœurs. | J'ai deux frères.
~ Mon frère est plus grand que moi. | Je suis plus grand que mon frère.
~ J'aime le bruit. | Je n'aime pas le bruit.
~ Je cours avant le travail. | Je cours après le travail.
~ J'enseigne l'anglais. | J'enseigne l'espagnol.
~ J'aime trop le sucre. | Je n'aime pas le sucre.
~ Mon frère habite à Lille. | Mon frère travaille à Lille.
~ J'aime voyager. | J'aimerais voyager.
~ J'étudie le droit. | J'ai étudié le droit.
~ Mon fils est asthmatique. | Ma fille est asthmatique.
~ Ma grand-mère a 90 ans. | Ma grand-mère a 80 ans.
~ Je cours tous les matins. | Je courais tous les matins.
~ Ma sœur est avocate. | Ma sœur était avocate.
~ J'ai un chien et deux chats. | J'ai un chat et deux chiens.
~ Je n'aime pas le poisson. | Je n'aime pas la viande.
~ Je travaille dans un camping en été. | Je travaille dans un camping en hiver.
~ Je suis célibataire. | Mon frère est célibataire.
~ Je me lève tôt. | Je me couche tard.
~ Je dors mal. | Je dors bien.
~ Je vais au travail en bus. | Je vais au travail en train.
~ J'aime lire. | J'aime écrire.
~ J'ai trente-quatre ans. | J'ai trente-cinq ans.
# es
= Soy alérgico al marisco. | Yo soy alérgico a los mariscos.
= Trabajo en una farmacia. | Estoy trabajando en una farmacia.
= Estoy aprendiendo japonés. | Aprendo japonés.
= Odio madrugar. | No soporto levantarme temprano.
= Odio madrugar. | Odio levantarme temprano.
= Odio el brócoli. | No soporto el brócoli.
= Odio el brócoli. | Detesto el brócoli.
= Me gusta mucho el jazz. | Me gusta muchísimo el jazz.
= Me gusta el jazz. | A mí me gusta el jazz.
= Tengo dos hijos. | Tengo 2 hijos.
= Mi hija se llama Lucía. | Lucía es mi hija.
= Mi perro se llama Toby. | Tengo un perro llamado Toby.
= Soy profesora de inglés en un instituto. | Doy clases de inglés en un instituto.
= Soy profesora de inglés en un instituto. | Enseño inglés en un instituto.
= Soy celíaca. | Tengo celiaquía.
= Soy diabético. | Tengo diabetes.
= Soy vegetariano. | No como carne.
= Trabajo de camarero. | Soy camarero.
= Soy electricista de profesión. | Mi profesión es electricista.
= Nací el 4 de junio. | Mi cumpleaños es el 4 de junio.
= Normalmente me acuesto a las once. | Me acuesto normalmente a las 11.
= Tomo café todas las mañanas. | Cada mañana bebo café.
= Yo no bebo alcohol. | No tomo alcohol.
= Vivo sola. | Yo vivo sola.
= Tengo un gato. | Yo tengo un gato en casa.
= Me casé en 2015. | Estoy casada desde 2015.
= Soy intolerante a la lactosa. | Tengo intolerancia a la lactosa.
= No puedo comer cacahuetes porque soy alérgica. | Soy alérgica a los cacahuetes.
= Me dan miedo las arañas. | Les tengo miedo a las arañas.
= Los domingos como con mis padres. | Como con mis padres los domingos.
= Mi película favorita es Coco. | Coco es mi película favorita.
= No tengo hermanos. | Soy hijo único.
= Tengo treinta años. | Tengo 30 años.
= Vivo en Bilbao. | Estoy viviendo en Bilbao.
= Estoy casada con Luis. | Mi marido se llama Luis.
= Hablo inglés con fluidez. | Hablo inglés fluido.
= No fumo. | No soy fumador.
= Tengo miedo a las alturas. | Me dan miedo las alturas.
= Soy de Perú. | Vengo de Perú.
= Toco la guitarra. | Sé tocar la guitarra.
= Trabajo como enfermera en un hospital. | Soy enfermera en un hospital.
= No me gustan las aceitunas. | Las aceitunas no me gustan.
= Me encanta el chocolate. | El chocolate me encanta.
= Mi hermano tiene tres hijos. | Mi hermano tiene 3 hijos.
= Tengo el pelo rizado. | Yo tengo el pelo rizado.
= Juego al tenis dos veces por semana. | Juego al tenis dos veces a la semana.
= Por las noches siempre leo. | Siempre leo por las noches.
= Tengo un hermano que vive en Bogotá. | Mi hermano vive en Bogotá.
= Mi abuela tiene 90 años. | Mi abuela tiene noventa años.
= Tengo los ojos verdes. | Mis ojos son verdes.
= Corro todas las mañanas. | Salgo a correr todas las mañanas.
= Estudio derecho. | Soy estudiante de derecho.
= Soy zurdo. | Escribo con la izquierda.
= Me encanta viajar. | Adoro viajar.
= Mi hijo tiene asma. | Mi hijo es asmático.
= Tengo una moto. | Yo tengo moto.
= Voy al gimnasio tres veces por semana. | Tres veces a la semana voy al gimnasio.
= Mi novia se llama Carla. | Tengo una novia que se llama Carla.
= En verano trabajo en un hotel. | Trabajo en un hotel en verano.
= Mi pasatiempo es la jardinería. | La jardinería es mi pasatiempo.
= Mi hermana es abogada. | Mi hermana trabaja como abogada.
= No me gusta nada el pescado. | No me gusta el pescado.
= Tengo un perro y dos gatos. | Tengo dos gatos y un perro.
= Vivo en un piso pequeño. | Vivo en un apartamento pequeño.
= Tomo el té sin azúcar. | Bebo el té sin azúcar.
= Me dan alergia los gatos. | Soy alérgica a los gatos.
= Soy madrugador. | Me levanto temprano.
= Duermo mal. | Tengo insomnio.
= Trabajo por cuenta propia. | Soy autónoma.
= Tengo treinta y cuatro años. | Tengo 34 años.
= Tengo veintidós años. | Tengo 22 años.
= La verdad, odio el ruido. | Odio el ruido.
~ Trabajo en una farmacia. | Trabajaba en una farmacia.
~ Estoy trabajando en una farmacia. | Estoy buscando trabajo en una farmacia.
~ Estoy aprendiendo japonés. | Voy a aprender japonés.
~ Estoy aprendiendo japonés. | Quiero aprender japonés.
~ Odio madrugar. | Odio acostarme temprano.
~ Soporto el brócoli. | No soporto el brócoli.
~ Me gusta el jazz. | A mi padre le gusta el jazz.
~ Soy alérgico al marisco. | Mi hermano es alérgico al marisco.
~ Soy alérgico al marisco. | No soy alérgico al marisco.
~ Soy profesora de inglés en un instituto. | Tengo una profesora de inglés en un instituto.
~ Soy profesora de inglés. | Soy estudiante de inglés.
~ Soy dentista. | Tengo dentista.
~ Tengo una hija. | Tengo una hija de mi primer matrimonio.
~ Mi hija se llama Lucía. | Mi hija se llama Lucrecia.
~ Mi hija se llama Lucía. | El gato de mi hija se llama Lucía.
~ Tomo café. | No tomo café.
~ Tomo café todas las mañanas. | Tomo té todas las mañanas.
~ Bebo alcohol. | No bebo alcohol.
~ No como carne. | No como pescado.
~ Tengo dos hijos. | Tengo doce hijos.
~ Me casé en 2015. | Me divorcié en 2015.
~ Soy camarero. | Fui camarero.
~ Soy diabético. | Mi madre es diabética.
~ Como con mis padres los domingos. | Como con mis padres los lunes.
~ Toco la guitarra. | Quiero tocar la guitarra.
~ Tengo treinta años. | Tengo trece años.
~ Mi marido se llama Luis. | Mi primo se llama Luis.
~ Mi hermana cuida a mi abuela. | Mi abuela cuida a mi hermana.
~ Me mudé de Madrid a Valencia. | Me mudé de Valencia a Madrid.
~ Prefiero el té al café. | Prefiero el café al té.
~ No me gustan las aceitunas. | Me gustan las aceitunas.
~ Siempre desayuno. | A veces desayuno.
~ Le presté dinero a Juan. | Juan me prestó dinero.
~ Estoy buscando piso. | Tengo piso.
~ Mi gato se llama Leo. | El veterinario de mi gato se llama Leo.
~ Corro antes de trabajar. | Corro después de trabajar.
~ Soy enfermera. | Quiero ser enfermera.
~ Hablo inglés. | Estudio inglés.
~ Soy de Perú. | Voy a Perú.
~ Tengo que tomar insulina. | No tengo que tomar insulina.
~ Estoy trabajando mucho. | Trabajé mucho.
~ No fumo. | Ya no fumo.
~ Mi hermano vive en Bogotá. | Mi hermano trabaja en Bogotá.
~ Me encanta viajar. | Me encantaría viajar.
~ Estudio derecho. | Estudié derecho.
~ Mi hijo tiene asma. | Mi hijo tenía asma.
~ Tengo una moto. | Vendí una moto.
~ Soy zurdo. | No soy zurdo.
~ Estoy esperando un bebé. | Estoy planeando un bebé.
~ Tengo un perro y dos gatos. | Tengo un gato y dos perros.
~ Mi hermana es abogada. | Mi hermana fue abogada.
~ Trabajo en un hotel en verano. | Trabajo en un hotel en invierno.
~ Me levanto temprano. | Me acuesto tarde.
~ Duermo mal. | Duermo bien.
~ Soy autónoma. | Mi madre es autónoma.
~ Soy soltero. | Estoy casado.
~ Voy al trabajo en bici. | Voy al trabajo en coche.
~ Tengo treinta y cuatro años. | Tengo cuarenta y tres años.
# it
= Sono celiaco. | Ho la celiachia.
= Sono celiaca. | Soffro di celiachia.
= Sono diabetico. | Ho il diabete.
= Mi piace molto cucinare. | Mi piace tanto cucinare.
= Adoro cucinare. | Amo cucinare.
= Lavoro in banca. | Sto lavorando in banca.
= Sto studiando il giapponese. | Studio il giapponese.
= Odio i funghi. | Non sopporto i funghi.
= Ho due figli. | Ho 2 figli.
= Mia figlia si chiama Giulia. | Ho una figlia di nome Giulia.
= Mia figlia si chiama Giulia. | Giulia è mia figlia.
= Il mio cane si chiama Rocky. | Ho un cane che si chiama Rocky.
= Insegno matematica in un liceo. | Sono insegnante di matematica in un liceo.
= Sono professoressa di inglese alle medie. | Insegno inglese alle medie.
= Faccio l'idraulico. | Di mestiere sono idraulico.
= Lavoro come infermiera. | Faccio l'infermiera.
= Sono vegetariano. | Non mangio carne.
= Sono allergica alle noci. | Ho un'allergia alle noci.
= Sono nato il 4 giugno. | Il mio compleanno è il 4 giugno.
= Di solito vado a letto alle undici. | Vado a letto di solito alle 11.
= Abito a Torino. | Io vivo a Torino.
= Prendo il caffè ogni mattina. | Ogni mattina bevo il caffè.
= Non bevo alcolici. | Io non bevo alcolici.
= Ho un gatto. | Io ho un gatto.
= Sono sposato dal 2015. | Mi sono sposato nel 2015.
= Ho paura dei ragni. | I ragni mi fanno paura.
= La domenica pranzo dai miei. | Pranzo dai miei la domenica.
= Il mio colore preferito è il verde. | Il verde è il mio colore preferito.
= Ho trent'anni. | Ho 30 anni.
= Sono figlio unico. | Non ho fratelli né sorelle.
= Mio marito si chiama Luca. | Sono sposata con Luca.
= Non fumo. | Non sono un fumatore.
= Vengo dalla Sicilia. | Sono della Sicilia.
= Suono la chitarra. | So suonare la chitarra.
= Parlo bene il tedesco. | Il tedesco lo parlo bene.
= Faccio il cuoco in un ristorante. | Lavoro come cuoco in un ristorante.
= Ho l'allergia al polline. | Sono allergico al polline.
= Non mi piacciono le olive. | Le olive non mi piacciono.
= Vado in palestra tre volte a settimana. | Vado in palestra 3 volte alla settimana.
= Vivo da sola. | Abito da sola.
= Ho una sorella più piccola. | Ho una sorella minore.
= La sera leggo sempre. | Leggo sempre la sera.
= Ho un fratello che vive a Londra. | Mio fratello vive a Londra.
= Mia nonna ha 90 anni. | Mia nonna ha novant'anni.
= Ho gli occhi azzurri. | I miei occhi sono azzurri.
= Corro ogni mattina. | Vado a correre ogni mattina.
= Studio giurisprudenza. | Sono studentessa di giurisprudenza.
= Adoro viaggiare. | Amo viaggiare.
= Mio figlio ha l'asma. | Mio figlio è asmatico.
= Sono mancino. | Scrivo con la sinistra.
= Non sopporto il caldo. | Odio il caldo.
= D'estate lavoro in un hotel. | Lavoro in un hotel d'estate.
= Il mio hobby è il giardinaggio. | Il giardinaggio è il mio hobby.
= Mia sorella fa l'avvocato. | Mia sorella è avvocato.
= Ho un cane e due gatti. | Ho due gatti e un cane.
= Il pesce non mi piace. | Non mi piace il pesce.
= Bevo il tè senza zucchero. | Prendo il tè senza zucchero.
= Sono allergico ai gatti. | Ho l'allergia ai gatti.
= Mi piace leggere. | Adoro leggere.
= Lavoro in proprio. | Sono un libero professionista.
= Ho trentaquattro anni. | Ho 34 anni.
= Sinceramente, odio il rumore. | Odio il rumore.
~ Lavoro in banca. | Lavoravo in banca.
~ Sto studiando il giapponese. | Vorrei studiare il giapponese.
~ Studio il giapponese. | Insegno il giapponese.
~ Odio i funghi. | Mia moglie odia i funghi.
~ Sopporto i funghi. | Non sopporto i funghi.
~ Sono celiaco. | Mio figlio è celiaco.
~ Sono celiaco. | Non sono celiaco.
~ Mi piace cucinare. | Mi piaceva cucinare.
~ Insegno matematica in un liceo. | Studio matematica in un liceo.
~ Sono dentista. | Ho un dentista.
~ Ho una figlia. | Ho una figlia dal mio primo matrimonio.
~ Mia figlia si chiama Giulia. | Mia figlia si chiama Giulietta.
~ Mia figlia si chiama Giulia. | Giulia ha una figlia.
~ Non mangio carne. | Non mangio pesce.
~ Prendo il caffè ogni mattina. | Prendo il treno ogni mattina.
~ Vado a letto alle undici. | Mi alzo alle undici.
~ Mi sono sposato nel 2015. | Mi sono separato nel 2015.
~ Ho due figli. | Ho dodici figli.
~ Faccio l'idraulico. | Mio padre fa l'idraulico.
~ Pranzo dai miei la domenica. | Ceno dai miei la domenica.
~ Suono la chitarra. | Suonavo la chitarra.
~ Mio marito si chiama Luca. | Mio cugino si chiama Luca.
~ Mia nonna aiuta mia zia. | Mia zia aiuta mia nonna.
~ Preferisco il tè al caffè. | Preferisco il caffè al tè.
~ Ho una sorella minore. | Ho una sorella maggiore.
~ Non mi piacciono le olive. | Mi piacciono le olive.
~ Vorrei un cane. | Ho un cane.
~ Ho comprato la casa da Marco. | Ho venduto la casa a Marco.
~ Corro prima del lavoro. | Corro dopo il lavoro.
~ Faccio il cuoco. | Conosco un cuoco.
~ Parlo tedesco. | Studio tedesco.
~ Bevo solo acqua. | Bevo acqua.
~ Sono nato a Bari. | Vivo a Bari.
~ Non fumo. | Non fumo più.
~ Mio fratello vive a Londra. | Mio fratello lavora a Londra.
~ Corro ogni mattina. | Correvo ogni mattina.
~ Amo viaggiare. | Amerei viaggiare.
~ Mio figlio ha l'asma. | Mia figlia ha l'asma.
~ Odio il caldo. | Odio il freddo.
~ Sto pensando di trasferirmi. | Sto programmando di trasferirmi.
~ Mia sorella fa l'avvocato. | Mia sorella faceva l'avvocato.
~ Ho un cane e due gatti. | Ho un gatto e due cani.
~ Dormo male. | Dormo bene.
~ Mi piace leggere. | Mi piace scrivere.
~ Vado al lavoro in bici. | Vado al lavoro in treno.
~ Sono single. | Mia sorella è single.
~ Ho trentaquattro anni. | Ho quarantatré anni.
# pt
= Eu não tomo café. | Não bebo café.
= Estou estudando direito. | Eu estudo direito.
= Estou a aprender alemão. | Aprendo alemão.
= Eu gosto muito de praia. | Gosto demais de praia.
= Eu adoro praia. | Adoro praia.
= Odeio cebola. | Não suporto cebola.
= Odeio cebola. | Detesto cebola.
= Tenho dois cachorros. | Eu tenho 2 cachorros.
= Minha filha se chama Ana. | Ana é minha filha.
= Minha filha se chama Ana. | Tenho uma filha chamada Ana.
= Sou professora de história numa escola pública. | Dou aula de história numa escola pública.
= Eu ensino história numa escola. | Sou professor de história numa escola.
= Sou celíaco. | Tenho doença celíaca.
= Sou diabética. | Tenho diabetes.
= Sou vegetariano. | Não como carne.
= Trabalho como enfermeira. | Sou enfermeira.
= Sou eletricista de profissão. | Minha profissão é eletricista.
= Tenho alergia a amendoim. | Sou alérgico a amendoim.
= Sou alérgica a frutos do mar. | Tenho alergia a frutos do mar.
= Nasci em 4 de junho. | Meu aniversário é 4 de junho.
= Normalmente durmo às onze. | Eu normalmente durmo às 11.
= Moro sozinha. | Eu moro sozinha.
= Tô trabalhando de casa. | Estou trabalhando de casa.
= Trabalho em casa. | Eu trabalho de casa.
= A gente se casou em 2015. | Nós nos casamos em 2015.
= Tenho medo de aranha. | Aranha me dá medo.
= Tenho um gato. | Eu tenho um gato.
= Aos domingos almoço com meus pais. | Almoço com meus pais aos domingos.
= Minha cor favorita é verde. | Verde é a minha cor favorita.
= Tenho trinta anos. | Tenho 30 anos.
= Sou filho único. | Não tenho irmãos.
= Meu marido se chama Pedro. | Sou casada com Pedro.
= Não fumo. | Eu não sou fumante.
= Sou da Bahia. | Eu venho da Bahia.
= Toco violão. | Eu sei tocar violão.
= Moro em Curitiba. | Vivo em Curitiba.
= Trabalho como cozinheiro num restaurante. | Sou cozinheiro num restaurante.
= Não gosto de azeitona. | De azeitona eu não gosto.
= Jogo tênis duas vezes por semana. | Jogo tênis 2 vezes por semana.
= Minha mãe é enfermeira. | Minha mãe trabalha como enfermeira.
= Eu acordo às seis. | Acordo às 6 da manhã.
= À noite eu sempre leio. | Eu sempre leio à noite.
= Tenho um irmão que mora em Porto Alegre. | Meu irmão mora em Porto Alegre.
= Minha avó tem 90 anos. | Minha avó tem noventa anos.
= Tenho olhos verdes. | Meus olhos são verdes.
= Corro todas as manhãs. | Corro toda manhã.
= Estudo direito. | Sou estudante de direito.
= Amo viajar. | Adoro viajar.
= Meu filho tem asma. | Meu filho é asmático.
= Sou canhoto. | Escrevo com a mão esquerda.
= Vou à academia três vezes por semana. | Vou à academia 3 vezes na semana.
= No verão trabalho num hotel. | Trabalho num hotel no verão.
= Meu hobby é jardinagem. | Jardinagem é meu hobby.
= Minha irmã é advogada. | Minha irmã trabalha como advogada.
= Tenho um cachorro e dois gatos. | Tenho dois gatos e um cachorro.
= Tomo chá sem açúcar. | Bebo chá sem açúcar.
= Tenho medo de altura. | Altura me dá medo.
= Durmo mal. | Tenho insônia.
= Sou autônomo. | Trabalho por conta própria.
= Tenho trinta e quatro anos. | Tenho 34 anos.
~ Não tomo café. | Não tomo chá.
~ Tomo café. | Não tomo café.
~ Tomo banho de manhã. | Bebo café de manhã.
~ Estou estudando direito. | Quero estudar direito.
~ Estou estudando direito. | Estudei direito.
~ Eu estudo direito. | Minha irmã estuda direito.
~ Suporto cebola. | Não suporto cebola.
~ Sou professora de história. | Tenho uma professora de história.
~ Dou aula de história. | Faço aula de história.
~ Dou aula de história numa escola. | Dou aula de geografia numa escola.
~ Sou dentista. | Tenho dentista.
~ Tenho uma filha. | Tenho uma filha do primeiro casamento.
~ Minha filha se chama Ana. | A filha da Ana se chama Bia.
~ Sou diabética. | Minha mãe é diabética.
~ Sou celíaco. | Não sou celíaco.
~ Gosto de praia. | Gostava de praia.
~ Nos casamos em 2015. | Nos separamos em 2015.
~ Tenho dois cachorros. | Tenho doze cachorros.
~ Não como carne. | Não como peixe.
~ Durmo às onze. | Acordo às onze.
~ Almoço com meus pais aos domingos. | Janto com meus pais aos domingos.
~ Toco violão. | Tocava violão.
~ Meu marido se chama Pedro. | Meu primo se chama Pedro.
~ Minha avó cuida da minha tia. | Minha tia cuida da minha avó.
~ Prefiro chá a café. | Prefiro café a chá.
~ Não gosto de azeitona. | Gosto de azeitona.
~ Emprestei dinheiro ao João. | O João me emprestou dinheiro.
~ Quero um gato. | Tenho um gato.
~ Corro antes do trabalho. | Corro depois do trabalho.
~ Sou cozinheiro. | Conheço um cozinheiro.
~ Acordo às seis. | Acordo às sete.
~ Às vezes bebo vinho. | Sempre bebo vinho.
~ Minha filha tem um gato. | O gato da minha filha tem medo.
~ Estou morando em Lisboa. | Vou morar em Lisboa.
~ Não fumo. | Não fumo mais.
~ Meu irmão mora em Porto Alegre. | Meu irmão trabalha em Porto Alegre.
~ Corro toda manhã. | Corria toda manhã.
~ Adoro viajar. | Adoraria viajar.
~ Meu filho tem asma. | Minha filha tem asma.
~ Estou pensando em mudar. | Estou planejando mudar.
~ Tenho um cachorro e dois gatos. | Tenho um gato e dois cachorros.
~ Minha irmã é advogada. | Minha irmã era advogada.
~ Durmo mal. | Durmo bem.
~ Acordo cedo. | Durmo tarde.
~ Vou de ônibus para o trabalho. | Vou de carro para o trabalho.
~ Sou solteira. | Sou casada.
~ Tenho trinta e quatro anos. | Tenho quarenta e três anos.
# ja
= 好きな食べ物はラーメンです。 | ラーメンが好きな食べ物です。
= 好きな色は青です。 | 青が好きな色です。
= 一番好きな映画は千と千尋の神隠しです。 | 千と千尋の神隠しが一番好きな映画です。
= 私は猫を2匹飼っています。 | 猫を二匹飼ってる。
= 犬を一匹飼っています。 | 犬が1匹います。
= 卵アレルギーです。 | 私は卵アレルギーなんです。
= 私はそばアレルギーがあります。 | そばアレルギーです。
= 小学校の教師をしています。 | 仕事は小学校の先生です。
= 私は看護師です。 | 看護師として働いています。
= 仕事は看護師です。 | 看護師をしています。
= 高校で英語を教えています。 | 高校の英語教師です。
= 妹の名前は美咲です。 | 美咲という妹がいます。
= 犬の名前はポチです。 | ポチという犬を飼っています。
= 納豆が嫌いです。 | 納豆は嫌いなんです。
= ジャズが大好きです。 | ジャズがとても好きです。
= 毎朝コーヒーを飲みます。 | コーヒーを毎朝飲んでいます。
= 毎朝コーヒーを飲みます。 | 毎朝コーヒーを飲む。
= お酒は飲みません。 | お酒を飲まない。
= 大阪に住んでいます。 | 大阪に住んでる。
= 子供が二人います。 | 子どもが2人います。
= 誕生日は6月4日です。 | 6月4日が誕生日です。
= 日曜日はジムに行きます。 | ジムには日曜日に行きます。
= 週に三回ジムに通っています。 | ジムに週3回通っています。
= 私はベジタリアンです。 | 肉は食べません。
= 銀行で働いています。 | 銀行に勤めています。
= 2015年に結婚しました。 | 結婚したのは2015年です。
= 泳げません。 | 泳ぐことができません。
= 普段は11時に寝ます。 | 私は普段十一時に寝ます。
= 英語を勉強しています。 | 英語を勉強してます。
= 週末はよく映画を見ます。 | 映画を週末によく見ます。
= 私の趣味は写真です。 | 写真が趣味です。
= 私は30歳です。 | 三十歳です。
= 夫の名前は健太です。 | 夫は健太といいます。
= タバコは吸いません。 | タバコを吸わない。
= 北海道出身です。 | 出身は北海道です。
= ギターを弾きます。 | ギターを弾いています。
= 魚が苦手です。 | 魚は苦手です。
= 朝6時に起きます。 | 毎朝六時に起きる。
= 一人暮らしです。 | 一人で暮らしています。
= 車で通勤しています。 | 車で通勤してます。
= 母は教師です。 | 母は先生をしています。
= 兄が二人います。 | 兄が2人いる。
= コーヒーが好きです。 | コーヒーが好きなんです。
= 私はエンジニアとして働いています。 | エンジニアをしています。
= 夜はいつも本を読みます。 | いつも夜に本を読みます。
= 東京に住んでいる兄がいます。 | 兄は東京に住んでいます。
= 旅行が好きです。 | 旅行するのが好きです。
= 息子は喘息です。 | 息子は喘息持ちです。
= 甘いものが苦手です。 | 甘いものは苦手なんです。
= 私は左利きです。 | 左利きなんです。
= 韓国語を習っています。 | 韓国語を習ってる。
= 車を持っています。 | 車があります。
= 週末は釣りに行きます。 | 釣りには週末に行きます。
= 夏はホテルで働いています。 | ホテルで夏に働いています。
= 趣味はガーデニングです。 | ガーデニングが趣味です。
= 姉は弁護士です。 | 姉は弁護士をしています。
= 犬一匹と猫二匹を飼っています。 | 犬1匹と猫2匹を飼っています。
= 魚はあまり好きじゃないです。 | 魚はあまり好きではありません。
= 猫アレルギーがあります。 | 猫アレルギーなんです。
= 高所恐怖症です。 | 高いところが怖いです。
= 妻は日本人です。 | 妻は日本人なんです。
= 身長は170センチです。 | 身長170cmです。
= 独身です。 | 結婚していません。
= バスで通勤しています。 | 通勤はバスです。
= 読書が好きです。 | 本を読むのが好きです。
= 実は犬が苦手です。 | 犬が苦手です。
= 私は三十四歳です。 | 34歳です。
= 通勤は約30分です。 | 通勤は30分くらいです。
~ 好きな食べ物はラーメンです。 | 妹の好きな食べ物はラーメンです。
~ 好きな食べ物はラーメンです。 | 嫌いな食べ物はラーメンです。
~ 母の好きな色は青です。 | 父の好きな色は青です。
~ 猫を2匹飼っています。 | 猫を3匹飼っています。
~ 猫を2匹飼っています。 | 猫を2匹飼っていました。
~ 猫を飼っています。 | 猫を飼いたいです。
~ 卵アレルギーです。 | 卵アレルギーではありません。
~ 卵アレルギーです。 | 息子は卵アレルギーです。
~ 小学校の先生です。 | 小学校の先生が好きです。
~ 小学校の教師をしています。 | 中学校の教師をしています。
~ 高校で英語を教えています。 | 高校で英語を習っています。
~ 看護師です。 | 妻は看護師です。
~ 妹の名前は美咲です。 | 姉の名前は美咲です。
~ 美咲という妹がいます。 | 美咲には妹がいます。
~ 毎朝コーヒーを飲みます。 | 毎晩コーヒーを飲みます。
~ 毎朝コーヒーを飲みます。 | 毎朝コーヒーを飲みません。
~ 毎朝コーヒーを飲みます。 | 妻は毎朝コーヒーを飲みます。
~ 大阪に住んでいます。 | 大阪に住みたいです。
~ 大阪に住んでいます。 | 大阪に住んでいました。
~ 結婚しています。 | 結婚します。
~ 子供が二人います。 | 子供が三人います。
~ 兄が弟に英語を教えています。 | 弟が兄に英語を教えています。
~ 11時に寝ます。 | 11時に起きます。
~ 日本語を教えています。 | 日本語を教えてもらっています。
~ 2015年に結婚しました。 | 2016年に結婚しました。
~ 週末はよく映画を見ます。 | 週末はよく本を読みます。
~ 夫の名前は健太です。 | 息子の名前は健太です。
~ 北海道出身です。 | 北海道に住んでいます。
~ 魚が苦手です。 | 肉が苦手です。
~ ギターを弾きます。 | ギターを弾いていました。
~ 私は妹より背が高いです。 | 妹は私より背が高いです。
~ 紅茶よりコーヒーが好きです。 | コーヒーより紅茶が好きです。
~ 母が祖母を世話しています。 | 祖母が母を世話しています。
~ 東京から大阪に引っ越しました。 | 大阪から東京に引っ越しました。
~ 時々走ります。 | 毎日走ります。
~ コーヒーが好きです。 | 夫はコーヒーが好きです。
~ 犬が怖いです。 | 犬が欲しいです。
~ 兄が二人います。 | 弟が二人います。
~ エンジニアをしています。 | エンジニアになりたいです。
~ 仕事の前に走ります。 | 仕事の後に走ります。
~ 友達にお金を貸しました。 | 友達にお金を借りました。
~ 日本酒だけ飲みます。 | 日本酒を飲みます。
~ タバコは吸いません。 | もうタバコは吸いません。
~ 兄は東京に住んでいます。 | 兄は東京で働いています。
~ 旅行が好きです。 | 旅行に行きたいです。
~ 韓国語を習っています。 | 韓国語を習いたいです。
~ 車を持っています。 | 車を持っていません。
~ 息子は喘息です。 | 娘は喘息です。
~ 左利きです。 | 右利きです。
~ 姉は弁護士です。 | 姉は弁護士でした。
~ 夏はホテルで働いています。 | 冬はホテルで働いています。
~ 母が見ません。 | 母を見ません。
~ 妻は日本人です。 | 妻は日本人ではありません。
~ 独身です。 | 兄は独身です。
~ バスで通勤しています。 | 電車で通勤しています。
~ 読書が好きです。 | 読書が嫌いです。
~ 朝型です。 | 夜型です。
~ 結婚していません。 | 結婚しています。
~ 三十四歳です。 | 四十三歳です。
# zh
= 我有一只猫。 | 我养了一只猫。
= 我养了两只狗。 | 我有2只狗。
= 我对花生过敏。 | 花生我不能吃,会过敏。
= 我对花生过敏。 | 我花生过敏。
= 我对海鲜过敏。 | 我不能吃海鲜,因为过敏。
= 我在医院当护士。 | 我的工作是医院的护士。
= 我是护士。 | 我的职业是护士。
= 我是小学老师。 | 我在小学当老师。
= 我在中学教数学。 | 我是中学数学老师。
= 我非常喜欢爵士乐。 | 我很喜欢爵士乐。
= 我喜欢爵士乐。 | 我特别喜欢爵士乐。
= 我讨厌香菜。 | 我受不了香菜。
= 我不喜欢香菜。 | 香菜我不喜欢。
= 我女儿叫小雨。 | 我有个女儿叫小雨。
= 我女儿的名字是小雨。 | 小雨是我女儿。
= 我的狗叫旺财。 | 我养了一只叫旺财的狗。
= 我有两个孩子。 | 我有2个孩子。
= 我不吃肉。 | 我吃素。
= 我是素食者。 | 我吃素。
= 我不喝酒。 | 我从来不喝酒。
= 我住在杭州。 | 我在杭州住。
= 我正在学日语。 | 我在学日语。
= 我每天早上跑步。 | 每天早上我都跑步。
= 我最喜欢的颜色是蓝色。 | 蓝色是我最喜欢的颜色。
= 我2015年结的婚。 | 我是2015年结婚的。
= 我不会游泳。 | 游泳我不会。
= 我有糖尿病。 | 我得了糖尿病。
= 我通常十一点睡觉。 | 我一般11点睡觉。
= 我开车上班。 | 我上班开车。
= 周末我常常爬山。 | 我周末常常爬山。
= 我的爱好是摄影。 | 摄影是我的爱好。
= 我今年三十岁。 | 我30岁。
= 我丈夫叫李明。 | 李明是我丈夫。
= 我不抽烟。 | 我从不抽烟。
= 我是四川人。 | 我来自四川。
= 我会弹吉他。 | 吉他我会弹。
= 我怕蜘蛛。 | 我害怕蜘蛛。
= 我早上六点起床。 | 我每天早上6点起床。
= 我一个人住。 | 我独居。
= 我妈妈是老师。 | 我妈是教师。
= 我有两个哥哥。 | 我有俩哥哥。
= 我想学吉他。 | 我很想学吉他。
= 我每周去两次健身房。 | 我一周去两次健身房。
= 我在银行工作。 | 我在银行上班。
= 晚上我总是看书。 | 我晚上总是看书。
= 我有个哥哥住在东京。 | 我哥哥住在东京。
= 我奶奶九十岁。 | 我奶奶90岁了。
= 我很爱旅行。 | 我喜欢旅行。
= 我儿子有哮喘。 | 我儿子患有哮喘。
= 我每天早上跑步。 | 我每天早晨跑步。
= 我是法律系的学生。 | 我学法律。
= 我每天喝咖啡。 | 咖啡我每天都喝。
= 我家有三口人。 | 我们家有三个人。
= 我最讨厌下雨天。 | 下雨天是我最讨厌的。
= 我养了两只猫。 | 我家有两只猫。
= 夏天我在酒店打工。 | 我夏天在酒店打工。
= 我姐姐是律师。 | 我姐姐当律师。
= 我养了一只狗和两只猫。 | 我有一只狗和两只猫。
= 我不太喜欢吃鱼。 | 鱼我不太喜欢吃。
= 我喝茶不加糖。 | 我喝茶从不加糖。
= 我恐高。 | 我有恐高症。
= 我身高一米七。 | 我的身高是1米7。
= 我老婆是日本人。 | 我妻子是日本人。
= 我单身。 | 我没有男朋友。
= 我经常失眠。 | 我晚上睡不着。
= 我滴酒不沾。 | 我不喝酒。
= 其实我不喜欢狗。 | 我不喜欢狗。
= 我三十四岁。 | 我34岁。
~ 我有一只猫。 | 我有一只狗。
~ 我有一只猫。 | 我想养一只猫。
~ 我养了一只猫。 | 我以前养了一只猫。
~ 我有一只猫。 | 我妹妹有一只猫。
~ 我有两只猫。 | 我有三只猫。
~ 我对花生过敏。 | 我对花生不过敏。
~ 我对花生过敏。 | 我儿子对花生过敏。
~ 我是护士。 | 我有一个护士。
~ 我在医院当护士。 | 我妹妹在医院当护士。
~ 我在医院当护士。 | 我在医院当医生。
~ 我在中学教数学。 | 我在中学学数学。
~ 我是中学数学老师。 | 我是小学数学老师。
~ 我女儿叫小雨。 | 我女儿的猫叫小雨。
~ 小雨是我女儿。 | 小雨有个女儿。
~ 我不吃肉。 | 我不吃鱼。
~ 我吃素。 | 我不吃素。
~ 我吃素。 | 我姐姐吃素。
~ 我在学日语。 | 我在教日语。
~ 我在学日语。 | 我想学日语。
~ 我不会游泳。 | 我会游泳。
~ 我住在杭州。 | 我想住在杭州。
~ 我2015年结的婚。 | 我2015年离的婚。
~ 我开车上班。 | 我不开车上班。
~ 我受不了香菜。 | 我离不了香菜。
~ 我有糖尿病。 | 我爸有糖尿病。
~ 我周末常常爬山。 | 我周末常常游泳。
~ 我丈夫叫李明。 | 我儿子叫李明。
~ 我是四川人。 | 我在四川工作。
~ 我怕蜘蛛。 | 我喜欢蜘蛛。
~ 我比妹妹高。 | 妹妹比我高。
~ 我喜欢茶胜过咖啡。 | 我喜欢咖啡胜过茶。
~ 妈妈照顾外婆。 | 外婆照顾妈妈。
~ 我从北京搬到上海。 | 我从上海搬到北京。
~ 我有时跑步。 | 我每天跑步。
~ 我会弹吉他。 | 我想学弹吉他。
~ 我借钱给小王。 | 小王借钱给我。
~ 我只喝茶。 | 我喝茶。
~ 我有两个哥哥。 | 我有两个弟弟。
~ 我在银行上班。 | 我姐在银行上班。
~ 我饭前散步。 | 我饭后散步。
~ 我朋友的狗叫豆豆。 | 我的狗叫豆豆。
~ 我可能会搬到上海。 | 我搬到上海了。
~ 我妈妈是老师。 | 我妈妈的老师叫王芳。
~ 我不抽烟。 | 我不再抽烟。
~ 我哥哥住在东京。 | 我哥哥在东京工作。
~ 我喜欢旅行。 | 我想去旅行。
~ 我儿子有哮喘。 | 我女儿有哮喘。
~ 我每天喝咖啡。 | 我每天喝茶。
~ 我学法律。 | 我学过法律。
~ 我姐姐是律师。 | 我姐姐以前是律师。
~ 我有一只狗和两只猫。 | 我有一只猫和两只狗。
~ 我恐高。 | 我不恐高。
~ 我单身。 | 我姐姐单身。
~ 我早起。 | 我是夜猫子。
~ 我近视。 | 我不近视。
~ 我不喝酒。 | 我不喝茶。
~ 我没有男朋友。 | 我有男朋友。
~ 我三十四岁。 | 我四十三岁。
# ko
= 저는 주말마다 등산을 가요. | 주말마다 저는 등산을 가요.
= 저는 매일 아침 커피를 마셔요. | 매일 아침 커피를 마셔요.
= 저는 매일 아침 커피를 마셔요. | 커피를 매일 아침 마십니다.
= 제가 제일 좋아하는 음식은 김치찌개예요. | 김치찌개가 제가 제일 좋아하는 음식이에요.
= 제가 가장 좋아하는 색은 파란색이에요. | 가장 좋아하는 색은 파란색입니다.
= 제 생일은 6월 4일이에요. | 6월 4일이 제 생일이에요.
= 저는 고양이를 키워요. | 저는 고양이를 키우고 있어요.
= 저는 고양이를 두 마리 키워요. | 고양이 2마리를 키우고 있어요.
= 저는 매운 음식을 못 먹어요. | 매운 거 못 먹어요.
= 저는 매운 음식을 못 먹어요. | 저는 매운 음식을 먹지 못해요.
= 저는 중학교에서 영어를 가르쳐요. | 제 직업은 중학교 영어 교사예요.
= 저는 고등학교 수학 선생님이에요. | 고등학교에서 수학을 가르치고 있어요.
= 저는 간호사예요. | 제 직업은 간호사입니다.
= 저는 간호사로 일하고 있어요. | 저는 간호사예요.
= 남동생 이름은 민준이에요. | 저한테 민준이라는 남동생이 있어요.
= 제 강아지 이름은 초코예요. | 초코라는 강아지를 키워요.
= 제 딸 이름은 지아예요. | 지아는 제 딸이에요.
= 저는 땅콩 알레르기가 있어요. | 땅콩에 알레르기가 있어요.
= 저는 땅콩 알레르기가 있어요. | 저는 땅콩을 못 먹어요, 알레르기가 있거든요.
= 저는 오이를 싫어해요. | 오이가 싫어요.
= 저는 재즈를 정말 좋아해요. | 재즈를 아주 좋아해요.
= 저는 서울에 살아요. | 저는 서울에 살고 있어요.
= 저는 서울에 살아요. | 서울에 삽니다.
= 저는 은행에서 일해요. | 은행에서 일하고 있어요.
= 아이가 두 명 있어요. | 저는 아이가 2명 있어요.
= 저는 술을 안 마셔요. | 저는 술을 마시지 않아요.
= 저는 수영을 못 해요. | 수영을 할 줄 몰라요.
= 저는 채식주의자예요. | 저는 고기를 안 먹어요.
= 저는 당뇨가 있어요. | 저는 당뇨병이 있어요.
= 보통 열한 시에 자요. | 저는 보통 11시에 자요.
= 주말에 저는 보통 영화를 봐요. | 저는 주말에 보통 영화를 봐요.
= 제 취미는 사진이에요. | 사진이 제 취미예요.
= 저는 서른 살이에요. | 저는 30살입니다.
= 남편 이름은 지훈이에요. | 제 남편은 지훈이에요.
= 저는 담배를 안 피워요. | 담배 안 피워요.
= 저는 부산 출신이에요. | 고향이 부산이에요.
= 저는 기타를 쳐요. | 저는 기타를 치고 있어요.
= 저는 벌레가 무서워요. | 저는 벌레를 무서워해요.
= 아침 여섯 시에 일어나요. | 저는 아침 6시에 일어나요.
= 저는 혼자 살아요. | 혼자 살고 있어요.
= 엄마는 선생님이에요. | 어머니는 교사예요.
= 오빠가 두 명 있어요. | 오빠가 2명 있어요.
= 커피를 좋아해요. | 저는 커피를 좋아합니다.
= 저는 일주일에 세 번 운동해요. | 저는 일주일에 3번 운동을 해요.
= 저는 영어를 공부하고 있어요. | 저는 영어를 공부해요.
= 저는 개발자로 일해요. | 저는 개발자입니다.
= 밤에는 항상 책을 읽어요. | 저는 항상 밤에 책을 읽어요.
= 도쿄에 사는 오빠가 있어요. | 오빠는 도쿄에 살아요.
= 할머니는 아흔 살이에요. | 할머니는 90살이에요.
= 여행을 좋아해요. | 여행하는 걸 좋아해요.
= 아들은 천식이 있어요. | 제 아들은 천식 환자예요.
= 매일 아침 달리기를 해요. | 아침마다 달리기를 합니다.
= 법학을 전공하고 있어요. | 제 전공은 법학이에요.
= 저는 왼손잡이예요. | 왼손잡이입니다.
= 저는 커피를 하루에 세 잔 마셔요. | 하루에 커피를 3잔 마셔요.
= 저는 혼자 여행하는 걸 좋아해요. | 혼자 여행하는 것을 좋아합니다.
= 저는 차가 없어요. | 차 없어요.
= 여름에는 호텔에서 일해요. | 저는 여름에 호텔에서 일해요.
= 누나는 변호사예요. | 누나는 변호사로 일하고 있어요.
= 강아지 한 마리와 고양이 두 마리를 키워요. | 강아지 1마리와 고양이 2마리를 키워요.
= 저는 생선을 별로 안 좋아해요. | 생선은 별로 좋아하지 않아요.
= 저는 고소공포증이 있어요. | 고소공포증이 있습니다.
= 저는 설탕 없이 차를 마셔요. | 차를 설탕 없이 마셔요.
= 제 키는 170cm예요. | 키가 170cm예요.
= 저희 엄마는 요리사예요. | 엄마 직업은 요리사예요.
= 버스로 출근해요. | 버스 타고 출근해요.
= 독서를 좋아해요. | 책 읽는 걸 좋아해요.
= 사실 저는 개를 싫어해요. | 저는 개를 싫어해요.
= 저는 서른네 살이에요. | 저는 34살이에요.
~ 저는 주말마다 등산을 가요. | 저는 주말마다 낚시를 가요.
~ 저는 주말마다 등산을 가요. | 형은 주말마다 등산을 가요.
~ 엄마가 아빠를 도와요. | 아빠가 엄마를 도와요.
~ 엄마는 아빠를 도와요. | 아빠는 엄마를 도와요.
~ 형이 동생을 가르쳐요. | 동생이 형을 가르쳐요.
~ 여동생 남편은 의사예요. | 남편 여동생은 의사예요.
~ 저는 고양이를 키워요. | 저는 고양이를 키웠어요.
~ 저는 고양이를 키워요. | 저는 고양이를 키우고 싶어요.
~ 저는 고양이를 키워요. | 저는 강아지를 키워요.
~ 저는 고양이를 키우고 있어요. | 누나는 고양이를 키우고 있어요.
~ 저는 매운 음식을 못 먹어요. | 저는 매운 음식을 잘 먹어요.
~ 저는 매운 음식을 못 먹어요. | 저는 단 음식을 못 먹어요.
~ 저는 중학교에서 영어를 가르쳐요. | 저는 중학교에서 영어를 배워요.
~ 저는 중학교 영어 교사예요. | 저는 고등학교 영어 교사예요.
~ 저는 간호사예요. | 아내는 간호사예요.
~ 저는 간호사예요. | 저는 간호사가 아니에요.
~ 남동생 이름은 민준이에요. | 남동생 친구 이름은 민준이에요.
~ 제 딸 이름은 지아예요. | 제 딸 이름은 지안이에요.
~ 지아는 제 딸이에요. | 지아는 딸이 있어요.
~ 저는 땅콩 알레르기가 있어요. | 저는 땅콩 알레르기가 없어요.
~ 저는 땅콩 알레르기가 있어요. | 아들은 땅콩 알레르기가 있어요.
~ 저는 서울에 살아요. | 저는 서울에 살았어요.
~ 저는 서울에 살아요. | 저는 서울에 살고 싶어요.
~ 저는 서울에서 일해요. | 저는 서울에 살아요.
~ 저는 은행에서 일해요. | 저는 은행에서 일할 거예요.
~ 저는 술을 안 마셔요. | 저는 술을 마셔요.
~ 저는 고기를 안 먹어요. | 저는 생선을 안 먹어요.
~ 제 생일은 6월 4일이에요. | 제 생일은 4월 6일이에요.
~ 아이가 두 명 있어요. | 아이가 세 명 있어요.
~ 저는 재즈를 좋아해요. | 저는 재즈를 안 좋아해요.
~ 남편 이름은 지훈이에요. | 아들 이름은 지훈이에요.
~ 저는 부산 출신이에요. | 저는 부산에 살아요.
~ 저는 벌레가 무서워요. | 저는 개가 무서워요.
~ 저는 기타를 쳐요. | 저는 기타를 쳤어요.
~ 누나가 저보다 키가 커요. | 제가 누나보다 키가 커요.
~ 저는 커피보다 차를 좋아해요. | 저는 차보다 커피를 좋아해요.
~ 엄마가 할머니를 돌봐요. | 할머니가 엄마를 돌봐요.
~ 친구에게 돈을 빌렸어요. | 친구에게 돈을 빌려줬어요.
~ 가끔 운동해요. | 매일 운동해요.
~ 오빠가 두 명 있어요. | 동생이 두 명 있어요.
~ 저는 개발자예요. | 저는 개발자가 되고 싶어요.
~ 여섯 시에 일어나요. | 일곱 시에 일어나요.
~ 저는 차만 마셔요. | 저는 차를 마셔요.
~ 서울에서 부산으로 이사했어요. | 부산에서 서울로 이사했어요.
~ 일 전에 운동해요. | 일 후에 운동해요.
~ 저는 고기를 먹을 거예요. | 저는 고기를 먹어요.
~ 저는 담배를 안 피워요. | 저는 더 이상 담배를 안 피워요.
~ 오빠는 도쿄에 살아요. | 오빠는 도쿄에서 일해요.
~ 여행을 좋아해요. | 여행을 가고 싶어요.
~ 아들은 천식이 있어요. | 딸은 천식이 있어요.
~ 저는 차가 없어요. | 저는 차가 있어요.
~ 법학을 전공하고 있어요. | 법학을 전공했어요.
~ 누나는 변호사예요. | 누나는 변호사였어요.
~ 여름에는 호텔에서 일해요. | 겨울에는 호텔에서 일해요.
~ 저는 생선을 좋아해요. | 저는 생선을 별로 안 좋아해요.
~ 저는 미혼이에요. | 언니는 미혼이에요.
~ 버스로 출근해요. | 지하철로 출근해요.
~ 저는 결혼 안 했어요. | 저는 결혼했어요.
~ 저는 아침형 인간이에요. | 저는 올빼미형이에요.
~ 저는 서른네 살이에요. | 저는 마흔세 살이에요.
# ru
= Мне очень нравится осень. | Осень мне нравится.
= Я люблю джаз. | Я очень люблю джаз.
= У меня две кошки. | У меня есть 2 кошки.
= У меня есть собака. | У меня собака.
= Я работаю бухгалтером. | Моя профессия — бухгалтер.
= Я учитель математики в школе. | Я преподаю математику в школе.
= Я преподаю английский. | Я работаю преподавателем английского.
= У меня аллергия на орехи. | Я аллергик, не могу есть орехи.
= На орехи у меня аллергия. | У меня аллергия на орехи.
= Я ненавижу лук. | Терпеть не могу лук.
= Я ненавижу лук. | Я не выношу лук.
= Мою дочь зовут Аня. | Аня — моя дочь.
= Мою дочь зовут Аня. | У меня есть дочь Аня.
= У меня есть собака по кличке Рекс. | Мою собаку зовут Рекс.
= У меня диабет. | Я диабетик.
= Я вегетарианец. | Я не ем мяса.
= Я не пью алкоголь. | Алкоголь я не пью.
= Живу в Казани. | Я живу в Казани.
= Я живу в Казани с 2018 года. | С 2018 года я живу в Казани.
= Мой день рождения 4 июня. | Я родилась 4 июня.
= Обычно я ложусь спать в одиннадцать. | Я обычно ложусь спать в 11.
= По вторникам я хожу на йогу. | Каждый вторник я хожу на йогу.
= Мой любимый цвет синий. | Синий — мой любимый цвет.
= Я замужем с 2015 года. | Я вышла замуж в 2015 году.
= Я не умею плавать. | Плавать я не умею.
= Я работаю дома. | Я работаю из дома.
= Изучаю японский. | Я учу японский.
= По выходным я часто хожу в кино. | Я часто хожу в кино по выходным.
= Моё хобби — фотография. | Фотография — моё хобби.
= Мне тридцать лет. | Мне 30 лет.
= Я единственный ребёнок в семье. | У меня нет братьев и сестёр.
= Моего мужа зовут Игорь. | Игорь — мой муж.
= Я не курю. | Я некурящая.
= Я из Сибири. | Я родом из Сибири.
= Я играю на гитаре. | Я умею играть на гитаре.
= Я боюсь пауков. | Пауки меня пугают.
= Я встаю в шесть утра. | Я просыпаюсь в 6 утра.
= Я живу одна. | Живу одна.
= Моя мама учительница. | Моя мама работает учительницей.
= У меня двое детей. | У меня 2 детей.
= Я работаю в банке. | Работаю в банке.
= Мне не нравятся оливки. | Оливки мне не нравятся.
= Я говорю по-английски. | Говорю по-английски.
= Вечером я всегда читаю. | Я всегда читаю вечером.
= У меня есть брат, который живёт в Лондоне. | Мой брат живёт в Лондоне.
= Моей бабушке 90 лет. | Моей бабушке девяносто лет.
= У меня голубые глаза. | Мои глаза голубые.
= Я бегаю каждое утро. | По утрам я бегаю.
= Я люблю путешествовать. | Я обожаю путешествовать.
= У моего сына астма. | Мой сын астматик.
= Я левша. | Я пишу левой рукой.
= У меня непереносимость лактозы. | Я не переношу лактозу.
= У меня есть машина. | У меня машина.
= Летом я работаю в отеле. | Я работаю в отеле летом.
= Моя сестра юрист. | Моя сестра работает юристом.
= У меня собака и две кошки. | У меня две кошки и собака.
= Я не очень люблю рыбу. | Рыбу я не очень люблю.
= Я пью чай без сахара. | Чай я пью без сахара.
= Я боюсь высоты. | У меня страх высоты.
= Мой рост 170 см. | Мой рост — 170 см.
= Я не пью. | Я не пью алкоголь.
= Я сова. | Я поздно ложусь.
= Я люблю читать. | Я много читаю.
= Честно говоря, я ненавижу шум. | Я ненавижу шум.
= Мне тридцать четыре года. | Мне 34 года.
~ У меня есть собака. | У меня была собака.
~ У меня есть собака. | У брата есть собака.
~ У меня нет собаки. | У меня есть собака.
~ У меня две кошки. | У меня три кошки.
~ Я учитель математики в школе. | Я учу математику в школе.
~ Я преподаю математику в школе. | Моя сестра преподаёт математику в школе.
~ У меня аллергия на орехи. | У сына аллергия на орехи.
~ У меня аллергия на орехи. | У меня нет аллергии на орехи.
~ Я ненавижу лук. | Муж ненавидит лук.
~ Аня — моя дочь. | У Ани есть дочь.
~ Мою дочь зовут Аня. | Мою племянницу зовут Аня.
~ Я диабетик. | Мой отец диабетик.
~ Я не ем мяса. | Я не ем рыбы.
~ Я живу в Казани. | Я жил в Казани.
~ Я люблю джаз. | Я любила джаз.
~ Мама любит папу. | Папа любит маму.
~ Я замужем с 2015 года. | Я развелась в 2015 году.
~ Я умею плавать. | Я не умею плавать.
~ Я стоматолог. | У меня есть стоматолог.
~ Я изучаю японский. | Я хочу изучать японский.
~ У меня есть дочь. | У меня есть дочь от первого брака.
~ Я ложусь спать в одиннадцать. | Я встаю в одиннадцать.
~ Я часто хожу в кино. | Я редко хожу в кино.
~ Моего мужа зовут Игорь. | Моего сына зовут Игорь.
~ Я из Сибири. | Я живу в Сибири.
~ Я играю на гитаре. | Я играл на гитаре.
~ Я выше сестры. | Сестра выше меня.
~ Бабушка ухаживает за тётей. | Тётя ухаживает за бабушкой.
~ Я одолжил деньги Ивану. | Иван одолжил деньги мне.
~ Я переехала из Москвы в Казань. | Я переехала из Казани в Москву.
~ У меня двое детей. | У меня трое детей.
~ Мне нравятся оливки. | Мне не нравятся оливки.
~ Я пью только чай. | Я пью чай.
~ Я бегаю до работы. | Я бегаю после работы.
~ Я хочу работать в банке. | Я работаю в банке.
~ Я встаю в шесть утра. | Я встаю в семь утра.
~ Моя мама учительница. | Моя мама была учительницей.
~ Кошка сестры рыжая. | Сестра кошки рыжая.
~ Я не курю. | Я больше не курю.
~ Мой брат живёт в Лондоне. | Мой брат работает в Лондоне.
~ Я бегаю каждое утро. | Я бегала каждое утро.
~ Я люблю путешествовать. | Я хочу путешествовать.
~ У моего сына астма. | У моей дочери астма.
~ Кошка боится собаку. | Собака боится кошку.
~ Моя сестра юрист. | Моя сестра была юристом.
~ Я работаю в отеле летом. | Я работаю в отеле зимой.
~ У меня собака и две кошки. | У меня кошка и две собаки.
~ Я сова. | Я жаворонок.
~ Я не пью алкоголь. | Я не пью кофе.
~ Я люблю читать. | Я люблю писать.
~ Я не замужем. | Я замужем.
~ Я плохо сплю. | Сын плохо спит.
~ Мне тридцать четыре года. | Мне сорок три года.
# tr
= Ben vejetaryenim. | Vejetaryenim ben ya.
= Ben vejetaryenim. | Et yemiyorum.
= Caz müziği severim. | Caz müziğini çok seviyorum.
= Ben İzmir'de yaşıyorum. | İzmir'de yaşıyorum ben.
= İzmir'de oturuyorum. | İzmir'de yaşıyorum.
= İki kedim var. | 2 kedim var.
= Benim bir köpeğim var. | Köpeğim var.
= Kızımın adı Defne. | Kızımın ismi Defne.
= Kızımın adı Defne. | Defne benim kızım.
= Köpeğimin adı Karabaş. | Karabaş adında bir köpeğim var.
= Hemşireyim. | Hemşire olarak çalışıyorum.
= Mesleğim öğretmenlik. | Öğretmenim.
= Lisede matematik öğretmeniyim. | Lisede matematik öğretiyorum.
= Fıstığa alerjim var. | Fıstık alerjim var.
= Fıstığa karşı alerjim var. | Benim fıstığa alerjim var.
= Soğandan nefret ediyorum. | Soğandan nefret ederim.
= Her sabah kahve içerim. | Sabahları kahve içiyorum.
= Kahveyi her sabah içerim. | Her sabah kahve içiyorum.
= Alkol kullanmıyorum. | Alkol içmiyorum.
= Alkol içmem. | Alkol içmiyorum.
= Genellikle on birde yatarım. | Genelde 11'de yatıyorum.
= En sevdiğim renk mavi. | Mavi en sevdiğim renktir.
= Haftada üç gün spora gidiyorum. | Haftada 3 gün spora giderim.
= 4 Haziran'da doğdum. | Doğum günüm 4 Haziran.
= Evden çalışıyorum. | Ben evden çalışıyorum.
= Yüzme bilmiyorum. | Yüzmeyi bilmiyorum.
= Şeker hastasıyım. | Diyabetim var.
= 2015'te evlendim. | 2015 yılında evlendim.
= Hafta sonları yürüyüş yaparım. | Yürüyüşü hafta sonları yaparım.
= Hobim fotoğrafçılık. | Fotoğrafçılık benim hobim.
= Otuz yaşındayım. | 30 yaşındayım.
= Tek çocuğum. | Kardeşim yok.
= Kocamın adı Emre. | Emre adında bir kocam var.
= Sigara içmiyorum. | Sigara kullanmıyorum.
= Gitar çalıyorum. | Gitar çalarım.
= Örümceklerden korkuyorum. | Örümceklerden korkarım.
= Sabah altıda kalkıyorum. | Sabahları 6'da kalkarım.
= Yalnız yaşıyorum. | Tek başıma yaşıyorum.
= Annem öğretmen. | Annem öğretmenlik yapıyor.
= İki ablam var. | 2 ablam var.
= Bankada çalışıyorum. | Ben bankada çalışıyorum.
= Zeytin sevmiyorum. | Zeytini sevmem.
= İngilizce konuşuyorum. | İngilizce konuşurum.
= Akşamları hep kitap okurum. | Hep akşamları kitap okurum.
= Londra'da yaşayan bir ağabeyim var. | Ağabeyim Londra'da yaşıyor.
= Mavi gözlüyüm. | Gözlerim mavi.
= Her sabah koşarım. | Her sabah koşuyorum.
= Seyahat etmeyi seviyorum. | Seyahat etmeyi severim.
= Oğlumun astımı var. | Oğlum astım hastası.
= Hukuk okuyorum. | Hukuk öğrencisiyim.
= Laktoz intoleransım var. | Laktoza karşı intoleransım var.
= Arabam yok. | Benim arabam yok.
= Solağım. | Sol elimle yazıyorum.
= Yazın otelde çalışıyorum. | Otelde yazın çalışıyorum.
= Ablam avukat. | Ablam avukatlık yapıyor.
= Balığı pek sevmem. | Balık pek sevmiyorum.
= Çayı şekersiz içerim. | Çayı şekersiz içiyorum.
= Yükseklik korkum var. | Yükseklikten korkarım.
= Boyum 170 cm. | Benim boyum 170 cm.
= Bekarım. | Evli değilim.
= Kitap okumayı severim. | Kitap kurduyum.
= Otuz dört yaşındayım. | 34 yaşındayım.
= Açıkçası gürültüden nefret ederim. | Gürültüden nefret ederim.
~ Ben vejetaryenim. | Ben vejetaryen değilim.
~ Ben vejetaryenim. | Kardeşim vejetaryen.
~ Vejetaryenim. | Eskiden vejetaryendim.
~ İzmir'de yaşıyorum. | İzmir'de yaşadım.
~ İzmir'de yaşıyorum. | İzmit'te yaşıyorum.
~ İzmir'de yaşıyorum. | İzmir'de yaşamak istiyorum.
~ İki kedim var. | Üç kedim var.
~ Köpeğim var. | Köpeğim yok.
~ Köpeğim var. | Kardeşimin köpeği var.
~ Kızımın adı Defne. | Defne'nin kızı var.
~ Kızımın adı Defne. | Kızımın kedisinin adı Defne.
~ Lisede matematik öğretiyorum. | Lisede matematik öğreniyorum.
~ Hemşireyim. | Hemşirem var.
~ Hemşire olarak çalışıyorum. | Eşim hemşire olarak çalışıyor.
~ Fıstığa alerjim var. | Fıstığa alerjim yok.
~ Fıstığa alerjim var. | Oğlumun fıstığa alerjisi var.
~ Her sabah kahve içerim. | Her sabah çay içerim.
~ Her sabah kahve içerim. | Her sabah kahve içmem.
~ Kahve içiyorum. | Kahve içeceğim.
~ Alkol içmiyorum. | Alkol içiyorum.
~ Annem babamı seviyor. | Babam annemi seviyor.
~ Yüzme biliyorum. | Yüzme bilmiyorum.
~ 2015'te evlendim. | 2015'te boşandım.
~ Hafta sonları yürüyüş yaparım. | Hafta sonları yüzerim.
~ Kocamın adı Emre. | Oğlumun adı Emre.
~ Trabzonluyum. | Trabzon'a gidiyorum.
~ Gitar çalıyorum. | Gitar çalmak istiyorum.
~ Örümceklerden korkuyorum. | Köpeklerden korkuyorum.
~ Ablamdan uzunum. | Ablam benden uzun.
~ Kahveyi çaydan çok severim. | Çayı kahveden çok severim.
~ Ali'ye borç verdim. | Ali bana borç verdi.
~ Bankada çalışıyorum. | Bankada çalışacağım.
~ Zeytin seviyorum. | Zeytin sevmiyorum.
~ İki ablam var. | İki abim var.
~ Annem öğretmen. | Annem öğretmendi.
~ Altıda kalkıyorum. | Yedide kalkıyorum.
~ İstanbul'dan Ankara'ya taşındım. | Ankara'dan İstanbul'a taşındım.
~ Sadece çay içerim. | Çay içerim.
~ Bazen yüzerim. | Her gün yüzerim.
~ Sigara içmiyorum. | Artık sigara içmiyorum.
~ Ağabeyim Londra'da yaşıyor. | Ağabeyim Londra'da çalışıyor.
~ Seyahat etmeyi seviyorum. | Seyahat etmek istiyorum.
~ Hukuk okuyorum. | Hukuk okudum.
~ Arabam yok. | Arabam var.
~ Oğlumun astımı var. | Kızımın astımı var.
~ Ablam avukat. | Ablam avukattı.
~ Yazın otelde çalışıyorum. | Kışın otelde çalışıyorum.
~ Çayı şekersiz içerim. | Çayı şekerli içerim.
~ Bekarım. | Evliyim.
~ İşe otobüsle gidiyorum. | İşe metroyla gidiyorum.
~ Erken kalkarım. | Geç yatarım.
~ Kitap okumayı severim. | Kitap yazmayı severim.
~ Otuz dört yaşındayım. | Kırk üç yaşındayım.
# ar
= أمارس الجري كل صباح. | كل صباح أمارس الجري.
= أنا أعمل مهندساً في شركة اتصالات. | أعمل كمهندس في شركة اتصالات.
= أعمل ممرضة. | أنا ممرضة.
= أنا طبيب. | أعمل طبيباً.
= مهنتي معلم. | أنا معلم.
= لا آكل اللحم لأنني نباتي. | أنا نباتي ولا أتناول اللحوم.
= أنا نباتي. | أنا نباتية.
= عندي ثلاثة أولاد. | لدي 3 أولاد.
= عندي قطة. | أملك قطة.
= عندي قطة. | أربي قطة.
= ابنتي اسمها سارة. | اسم ابنتي سارة.
= عندي ابنة اسمها سارة. | اسم ابنتي سارة.
= سارة ابنتي. | ابنتي اسمها سارة.
= أحب القهوة. | أحب القهوة كثيراً.
= أنا أحب القهوة جداً. | أحب القهوة.
= أكره البصل. | لا أطيق البصل.
= عندي حساسية من الفول السوداني. | أعاني من حساسية الفول السوداني.
= لدي حساسية من المكسرات. | أنا مصاب بحساسية من المكسرات.
= أسكن في عمان. | أعيش في عمان.
= أنا أسكن في عمان. | في عمان أسكن.
= أعمل مدرساً للرياضيات في مدرسة ثانوية. | أنا معلم رياضيات في مدرسة ثانوية.
= لوني المفضل الأزرق. | الأزرق هو لوني المفضل.
= أشرب القهوة كل صباح. | كل صباح أشرب القهوة.
= أتناول القهوة كل صباح. | أشرب القهوة كل صباح.
= أنا مصاب بالسكري. | عندي سكري.
= ولدت في 4 يونيو. | عيد ميلادي 4 يونيو.
= لا أشرب الكحول. | أنا لا أشرب الكحول.
= تزوجت عام 2015. | تزوجت في سنة 2015.
= عادة أنام في الساعة الحادية عشرة. | أنام عادة في الساعة 11.
= في عطلة نهاية الأسبوع أذهب إلى النادي. | أذهب إلى النادي في عطلة نهاية الأسبوع.
= هوايتي التصوير. | التصوير هوايتي.
= عمري ثلاثون سنة. | عمري 30 سنة.
= زوجي اسمه أحمد. | اسم زوجي أحمد.
= أنا لا أدخن. | لا أدخن.
= أنا من المغرب. | أصلي من المغرب.
= أعزف على العود. | أنا أعزف العود.
= أخاف من العناكب. | أنا أخاف من العناكب.
= أستيقظ في السادسة صباحاً. | أستيقظ الساعة 6 صباحاً.
= أعيش وحدي. | أعيش لوحدي.
= أمي معلمة. | أمي تعمل معلمة.
= عندي أخوان. | لدي أخوان.
= أعمل في بنك. | أشتغل في بنك.
= لا أحب الزيتون. | الزيتون لا أحبه.
= في المساء أقرأ دائماً. | أقرأ دائماً في المساء.
= عندي أخ يسكن في لندن. | أخي يسكن في لندن.
= جدتي عمرها تسعون سنة. | عمر جدتي 90 سنة.
= أركض كل صباح. | كل صباح أركض.
= أحب السفر. | أعشق السفر.
= ابني مصاب بالربو. | ابني عنده ربو.
= أنا أعسر. | أكتب بيدي اليسرى.
= ليس عندي سيارة. | لا أملك سيارة.
= أدرس القانون. | أنا طالب قانون.
= في الصيف أعمل في فندق. | أعمل في فندق في الصيف.
= أختي محامية. | أختي تعمل محامية.
= عندي كلب وقطتان. | لدي كلب وقطتان.
= لا أحب السمك كثيراً. | أنا لا أحب السمك كثيراً.
= أشرب الشاي بدون سكر. | أشرب الشاي من دون سكر.
= أخاف من المرتفعات. | عندي خوف من المرتفعات.
= طولي 170 سم. | يبلغ طولي 170 سم.
= أنا أعزب. | لست متزوجاً.
= أحب القراءة. | أحب قراءة الكتب.
= بصراحة أكره الضوضاء. | أكره الضوضاء.
= عمري أربعة وثلاثون سنة. | عمري 34 سنة.
~ أعمل مدرساً للرياضيات في مدرسة ثانوية. | كان عندي معلم رياضيات في مدرسة ثانوية.
~ أنا ممرضة. | عندي ممرضة.
~ زوجي طبيب. | أنا طبيب.
~ تحب أمي أبي. | يحب أبي أمي.
~ أعمل مهندساً في شركة اتصالات. | كنت أعمل مهندساً في شركة اتصالات.
~ أعمل مهندساً في شركة اتصالات. | أخي يعمل مهندساً في شركة اتصالات.
~ أعمل مهندساً في شركة اتصالات. | أعمل مهندساً في شركة بترول.
~ أنا طبيب. | عندي طبيب.
~ أنا نباتي. | لست نباتياً.
~ أنا نباتي. | أختي نباتية.
~ عندي ثلاثة أولاد. | عندي أربعة أولاد.
~ عندي قطة. | أريد قطة.
~ عندي قطة. | كان عندي قطة.
~ عندي قطة. | عند أختي قطة.
~ اسم ابنتي سارة. | اسم قطة ابنتي سارة.
~ سارة ابنتي. | سارة عندها ابنة.
~ أحب القهوة. | لا أحب القهوة.
~ أحب القهوة. | زوجي يحب القهوة.
~ أطيق البصل. | لا أطيق البصل.
~ عندي حساسية من المكسرات. | ليس عندي حساسية من المكسرات.
~ أسكن في عمان. | كنت أسكن في عمان.
~ أسكن في عمان. | أعمل في عمان.
~ يساعد أبي عمي. | يساعد عمي أبي.
~ أشرب القهوة كل صباح. | أشرب الشاي كل صباح.
~ أدرس الرياضيات في مدرسة ثانوية. | ابني يدرس الرياضيات في مدرسة ثانوية.
~ تزوجت عام 2015. | تطلقت عام 2015.
~ أذهب إلى النادي كل يوم. | أذهب إلى النادي أحياناً.
~ اسم زوجي أحمد. | اسم ابني أحمد.
~ أنا من المغرب. | أعيش في المغرب.
~ أعزف على العود. | كنت أعزف على العود.
~ أنا أطول من أختي. | أختي أطول مني.
~ تساعد أمي جدتي. | تساعد جدتي أمي.
~ أقرضت خالد المال. | أقرضني خالد المال.
~ انتقلت من بيروت إلى دمشق. | انتقلت من دمشق إلى بيروت.
~ أفضل الشاي على القهوة. | أفضل القهوة على الشاي.
~ أحب الزيتون. | لا أحب الزيتون.
~ أشرب الشاي فقط. | أشرب الشاي.
~ سأعمل في بنك. | أعمل في بنك.
~ أمي معلمة. | أمي كانت معلمة.
~ عندي أخ. | عندي أخت.
~ لا أدخن. | لم أعد أدخن.
~ أخي يسكن في لندن. | أخي يعمل في لندن.
~ أحب السفر. | أريد السفر.
~ ابني مصاب بالربو. | ابنتي مصابة بالربو.
~ ليس عندي سيارة. | عندي سيارة.
~ أدرس القانون. | درست القانون.
~ أختي محامية. | أختي كانت محامية.
~ أعمل في فندق في الصيف. | أعمل في فندق في الشتاء.
~ أشرب الشاي بدون سكر. | أشرب الشاي بالسكر.
~ أنا أعزب. | أنا متزوج.
~ أحب القراءة. | أحب الكتابة.
~ أذهب إلى العمل بالسيارة. | أذهب إلى العمل بالحافلة.
~ أستيقظ مبكراً. | أستيقظ متأخراً.
~ عمري أربعة وثلاثون سنة. | عمري ثلاثة وأربعون سنة.
# en
= I work in a library. | I work at a library.
= I've been playing piano since I was six. | Since I was six I've been playing the piano.
= My husband is a firefighter. | My husband works as a firefighter.
= I have a golden retriever. | My dog is a golden retriever.
= I've been vegetarian since 2012. | I became a vegetarian in 2012.
= I don't have any siblings. | I'm an only child.
= I usually have lunch at noon. | I normally eat lunch at 12.
= My wife's name is Carla. | I'm married to Carla.
= I hate mushrooms. | I can't stand mushrooms.
= I live in Denver with my two dogs. | My two dogs and I live in Denver.
= I'm terrified of spiders. | Spiders terrify me.
= I drive a Honda Civic. | My car is a Honda Civic.
= I don't drink alcohol. | I never drink alcohol.
= I'm lactose intolerant. | I can't have dairy because I'm lactose intolerant.
= Every Friday night we order pizza. | We order pizza every Friday night.
= My daughter started kindergarten this year. | This year my daughter began kindergarten.
= My dad was a miner. | My father was a miner.
= I take the train to work. | I go to work by train.
= I swim twice a week. | Twice a week I go swimming.
= My favorite band is Radiohead. | Radiohead is the band I like best.
= I've got type 1 diabetes. | I'm a type 1 diabetic.
= We have three kids. | We've got three children.
= I retired last year. | Last year I went into retirement.
= I'm from Ohio originally. | I'm originally from Ohio.
= I quit my job in June. | In June I left my job.
= My knees hurt when I run. | When I run my knees hurt.
= I like tea better than coffee. | I prefer tea to coffee.
= I study economics. | I'm an economics student.
= I can't eat gluten. | I have to avoid gluten.
= My brother lives in Canada. | I have a brother living in Canada.
= My birthday is on the 5th of May. | I was born on May 5th.
= I own a small bakery. | I'm the owner of a small bakery.
= I never learned to drive. | I can't drive.
= My grandma makes the best apple pie. | My grandmother makes the best apple pie.
= I work from home on Mondays. | On Mondays I work from home.
= I speak Spanish and French. | I speak French and Spanish.
= I'm left handed. | I'm a lefty.
= My apartment is on the third floor. | I live on the third floor.
= I have two sons and a daughter. | I've got a daughter and two sons.
= I wear glasses. | I need glasses.
= By the way, I'm left-handed. | I'm left-handed.
= I think best in the mornings. | In the mornings I think best.
= There's a piano in our living room. | We have a piano in our living room.
= I got married in 2010. | I've been married since 2010.
= My sister Anna is a vet. | My sister Anna works as a vet.
= I don't watch TV. | I never watch TV.
= My daughter is seven. | My daughter is seven years old.
= I'm not a fan of horror movies. | I don't like horror movies.
= I usually work from nine to five. | I normally work from 9 to 5.
= I'm the youngest of four kids. | I'm the youngest of four children.
= I haven't eaten meat since 2018. | I've been vegetarian since 2018.
= Our cat's name is Pickles. | We have a cat named Pickles.
= I moved to Berlin in 2016. | In 2016 I moved to Berlin.
= I can speak Italian. | I speak Italian.
= My car is electric. | I drive an electric car.
= I got laid off in March. | I was laid off in March.
= I'm scared of flying. | Flying scares me.
= I jog three times a week. | I go jogging 3 times a week.
= My mother-in-law lives with us. | My mother-in-law is living with us.
= I wake up at 5:30 every day. | Every day I wake up at half past five.
= My dad passed away in 2019. | My father died in 2019.
= I take my coffee black. | I drink my coffee black.
= My phone is an iPhone 13. | I have an iPhone 13.
= I love hiking. | I enjoy hiking.
= I'm studying to become a nurse. | I'm training to be a nurse.
= I grow tomatoes in my garden. | In my garden I grow tomatoes.
= I am a huge fan of jazz. | I really love jazz.
= I play in a band. | I'm in a band.
= My best friend is Tom. | Tom is my best friend.
= I can't eat nuts. | Nuts are off limits for me.
= My husband and I have been married for twelve years. | I've been married to my husband for twelve years.
= I was born in Chicago. | Chicago is where I was born.
= I grew up on a farm. | I was raised on a farm.
= I have a twin brother. | My brother and I are twins.
= I live with my grandmother. | My grandma and I live together.
= I'm vegan. | I don't eat any animal products.
= I play tennis on Saturdays. | Saturday is when I play tennis.
= I have trouble falling asleep. | It's hard for me to fall asleep.
= I'm afraid of the dark. | The dark scares me.
= I learned to swim at age six. | I was six when I learned to swim.
= I prefer the window seat. | I like the window seat better.
= I'm saving up for a car. | I'm putting money aside for a car.
= I only drink decaf. | I don't drink anything but decaf.
= My mother is from Poland. | My mom comes from Poland.
= I've never been to Asia. | I have not been to Asia yet.
= I go to church every Sunday. | Every Sunday I attend church.
= I broke my arm last summer. | Last summer I fractured my arm.
= I collect vinyl records. | I'm a vinyl record collector.
= My wife is pregnant. | My wife and I are expecting a baby.
= I work the night shift. | I work at night.
= I'm 34 years old. | I turned 34.
~ My boy is a plumber. | My boss is a plumber.
~ I am allergic to peanuts. | I am allergic to peanut oil.
~ I work nights at the hospital. | I work days at the hospital.
~ I'm retired. | My wife is retired.
~ I have been married for 28 years. | I was married for 28 years.
~ I have been with my wife for ten years. | I have been with my company for ten years.
~ I have a golden retriever. | My sister has a golden retriever.
~ My son does plumbing for a living. | My son did plumbing for a living.
~ I never drink coffee. | I never drink decaf coffee.
~ Coffee isn't something I drink. | Coffee is something I drink.
~ I want to be a plumber. | I am a plumber.
~ I support Arsenal. | I support my parents.
~ I like tea better than coffee. | I like coffee better than tea.
~ I drive a bus. | I have a bus.
~ My commute is 40 minutes. | My commute is 14 minutes.
~ I stopped working in 2021. | I started working in 2021.
~ My big sister is a nurse. | My little sister is a nurse.
~ I eat dinner at six. | I cook dinner at six.
~ I drink coffee now. | I don't drink coffee now.
~ I work on weekends. | I work on weekdays.
# de
= Ich spiele seit zehn Jahren Klavier. | Seit zehn Jahren spiele ich Klavier.
= Ich bin Lehrerin. | Ich arbeite als Lehrerin.
= Ich habe keine Kinder. | Kinder habe ich nicht.
= Ich gehe dreimal pro Woche ins Fitnessstudio. | Ich geh dreimal die Woche ins Gym.
= Ich mag keine Pilze. | Pilze mag ich nicht.
= Mein Sohn studiert Physik in Aachen. | Mein Sohn macht ein Physikstudium in Aachen.
= Ich habe Angst vor Hunden. | Hunde machen mir Angst.
= Ich wohne in Köln. | Ich lebe in Köln.
= Meine Schwester heißt Lena. | Ich habe eine Schwester namens Lena.
= Ich fahre mit dem Fahrrad zur Arbeit. | Zur Arbeit fahre ich mit dem Rad.
= Ich bin seit 2020 Rentner. | Seit 2020 bin ich in Rente.
= Ich trinke keinen Alkohol. | Ich trinke überhaupt keinen Alkohol.
= Ehrlich gesagt mag ich keinen Fisch. | Ich mag keinen Fisch.
= Ich stehe jeden Tag um sechs auf. | Ich steh jeden Tag um 6 Uhr auf.
= Mein Vater ist in Rente. | Mein Vater ist Rentner.
= Ich habe zwei Katzen, Mimi und Max. | Meine zwei Katzen heißen Mimi und Max.
= Seit 2015 arbeite ich bei Bosch. | Ich arbeite seit 2015 bei Bosch.
= Ich kann nicht schwimmen. | Schwimmen kann ich nicht.
= Meine Tochter ist fünf. | Meine Tochter ist fünf Jahre alt.
= Ich bin allergisch gegen Katzen. | Ich habe eine Katzenallergie.
= Ich nehme jeden Morgen den Bus zur Arbeit. | Jeden Morgen nehme ich den Bus zur Arbeit.
= Ich habe keinen Führerschein. | Einen Führerschein besitze ich nicht.
= Meine Frau ist Ärztin. | Meine Frau arbeitet als Ärztin.
= Ich bin vegan. | Ich esse keine tierischen Produkte.
= Ich arbeite nachts. | Ich habe Nachtschicht.
= Mein Hund heißt Bello. | Ich hab einen Hund, der heißt Bello.
= Ich bin seit 2010 verheiratet. | 2010 habe ich geheiratet.
= Ich wohne allein. | Ich lebe alleine.
= Ich spreche Spanisch. | Ich kann Spanisch.
= Mein Bruder ist drei Jahre älter als ich. | Ich bin drei Jahre jünger als mein Bruder.
~ Mein Bruder verdient sein Geld als Dachdecker. | Mein Bruder verdiente sein Geld als Dachdecker.
~ Ich habe früher bei der Post gearbeitet. | Ich arbeite bei der Post.
~ Ich trinke nie Kaffee. | Ich trinke nie Tee.
~ Ich rauche seit fünf Jahren nicht mehr. | Ich rauche seit fünf Jahren.
~ Ich bin Rentner. | Meine Frau ist Rentnerin.
~ Ich vertrage keine Milch. | Ich vertrage keine Nüsse.
~ Ich gehe zweimal pro Woche schwimmen. | Ich gehe dreimal pro Woche schwimmen.
~ Mein großer Bruder wohnt in Ulm. | Mein kleiner Bruder wohnt in Ulm.
~ Ich mag Tee lieber als Kaffee. | Ich mag Kaffee lieber als Tee.
# fr
= Je n'ai pas de voiture. | J'ai pas de voiture.
= Je travaille de nuit à l'hôpital. | Je travaille la nuit à l'hôpital.
= Mon mari est boulanger. | Mon mari travaille comme boulanger.
= Je suis végétarienne. | Je ne mange pas de viande.
= J'ai deux chats et un chien. | J'ai un chien et deux chats.
= Je fais du yoga tous les mardis. | Tous les mardis je fais du yoga.
= J'ai peur des araignées. | Les araignées me font peur.
= Je bois un café tous les matins. | Tous les matins, je bois un café.
= Ma sœur habite à Lille. | J'ai une sœur qui habite à Lille.
= Je préfère le thé au café. | J'aime mieux le thé que le café.
= J'ai arrêté de fumer en 2015. | Je ne fume plus depuis 2015.
= Je me lève à 6 heures. | Je me lève à 6h.
= Moi, je déteste le fromage. | Je déteste le fromage.
= En fait, je suis gaucher. | Je suis gaucher.
= Le samedi, je vais au marché avec ma mère. | Je vais au marché avec ma mère le samedi.
= Mon fils a sept ans. | J'ai un fils de sept ans.
= Je suis infirmière. | Je travaille comme infirmière.
= Je suis allergique aux noix. | J'ai une allergie aux noix.
= Je joue du piano depuis dix ans. | Ça fait dix ans que je joue du piano.
= Je n'ai pas le permis. | Je n'ai pas de permis de conduire.
= Ma femme est médecin. | Ma femme travaille comme médecin.
= Je suis vegan. | Je ne mange aucun produit animal.
= Je vis seule. | J'habite toute seule.
= Mon chien s'appelle Rex. | J'ai un chien, il s'appelle Rex.
= Je suis mariée depuis dix ans. | Ça fait dix ans que je suis mariée.
= Je déteste me lever tôt. | J'ai horreur de me lever tôt.
= Mon frère a trois ans de plus que moi. | J'ai trois ans de moins que mon frère.
= J'ai deux enfants. | Je suis maman de deux enfants.
= Je parle espagnol. | Je sais parler espagnol.
~ Je suis diabétique de type 2. | Je suis diabétique de type 1.
~ Je suis à la retraite depuis 2021. | J'ai arrêté de fumer en 2021.
~ Je travaille de nuit. | Je travaille de jour.
~ Je ne bois pas de café après 16h. | Je ne bois pas de café avant 16h.
~ Ma fille étudie le droit à Rennes. | Ma fille enseigne le droit à Rennes.
~ Je n'ai jamais mangé de viande. | Je ne mange pas de viande.
~ Je suis plus grand que mon frère. | Je ne suis plus grand.
~ Je me couche rarement avant minuit. | Je me couche souvent avant minuit.
# es
= Soy enfermera. | Trabajo como enfermera.
= Vivo en Madrid desde 2010. | Desde 2010 vivo en Madrid.
= Tengo dos hijos. | Tengo dos niños.
= No bebo alcohol. | Nunca bebo alcohol.
= Me gusta más el té que el café. | Prefiero el té al café.
= Mi perro se llama Toby. | Tengo un perro llamado Toby.
= Me levanto a las seis. | Me levanto a las 6.
= Voy al gimnasio tres veces por semana. | Tres veces a la semana voy al gimnasio.
= Tengo miedo a las arañas. | Las arañas me dan miedo.
= Dejé de fumar en 2018. | En 2018 dejé el tabaco.
= Mi padre está jubilado. | Mi padre es jubilado.
= Hace diez años que vivo en Lima. | Vivo en Lima desde hace diez años.
= Mi hijo tiene siete años. | Tengo un hijo de siete años.
= La verdad, no me gusta el fútbol. | No me gusta el fútbol.
= Mi marido es cocinero. | Mi marido trabaja de cocinero.
= Por las mañanas salgo a correr. | Salgo a correr por las mañanas.
= Toco la guitarra desde los diez años. | Desde los diez años toco la guitarra.
= Soy alérgica a las nueces. | Tengo alergia a las nueces.
= No tengo carné de conducir. | No tengo licencia de conducir.
= Mi mujer es médica. | Mi esposa trabaja como médica.
= Soy vegano. | No como productos de origen animal.
= Vivo solo. | Vivo yo solo.
= Mi hermano es tres años mayor que yo. | Soy tres años menor que mi hermano.
= Estoy casada desde hace diez años. | Llevo diez años casada.
= Mi gata se llama Luna. | Tengo una gata, se llama Luna.
= Trabajo de noche. | Tengo turno de noche.
= Me dan alergia los gatos. | Soy alérgica a los gatos.
~ No tengo coche. | No tengo perro.
~ Soy electricista desde hace treinta años. | Soy electricista desde hace tres años.
~ Vivo con mi prima Lucía. | Vivo con mi prima Ana.
~ Ya no bebo alcohol. | No bebo alcohol.
~ Tengo una hermana que vive en Rosario. | Tengo una hermana que trabaja en Rosario.
~ Llevo diez años casado. | Llevo diez años divorciado.
~ Me jubilé en 2015. | Me casé en 2015.
~ Mi hermanito vive en Lima. | Mi hermano mayor vive en Lima.
# it
= Sono un infermiere. | Lavoro come infermiere.
= Vivo a Roma da dieci anni. | Da dieci anni vivo a Roma.
= Ho un cane di nome Rex. | Il mio cane si chiama Rex.
= Non bevo alcolici. | Sono astemio.
= Mia moglie fa la maestra. | Mia moglie è maestra.
= Mi alzo alle sei. | Mi alzo alle 6.
= Preferisco il tè al caffè. | Mi piace di più il tè del caffè.
= Ho due figli. | Sono padre di due figli.
= Vado in palestra tre volte a settimana. | Tre volte alla settimana vado in palestra.
= Studio medicina a Padova. | A Padova studio medicina.
= Odio i funghi. | Non sopporto i funghi.
= Mio figlio ha sette anni. | Ho un figlio di sette anni.
= Sinceramente odio il calcio. | Odio il calcio.
= La domenica pranziamo dai nonni. | Pranziamo dai nonni la domenica.
= Sono allergico alle noci. | Ho un'allergia alle noci.
= Non ho la patente. | Non ho preso la patente.
= Mia moglie è medico. | Mia moglie lavora come medico.
= Vivo da sola. | Abito da sola.
= Il mio gatto si chiama Micio. | Ho un gatto, si chiama Micio.
= Mio fratello ha tre anni più di me. | Ho tre anni meno di mio fratello.
= Lavoro di notte. | Faccio il turno di notte.
= Sono sposato da dieci anni. | Io e mia moglie siamo sposati da dieci anni.
= Ho smesso di fumare due anni fa. | Due anni fa ho smesso di fumare.
~ Ho paura di volare. | Mi piace volare.
~ Ho smesso di fumare nel 2010. | Ho iniziato a fumare nel 2010.
~ Mio fratello fa il cuoco. | Mio fratello fa il bagno.
~ Lavoro da casa. | Lavoro da dieci anni.
~ Sono in pensione dal 2010. | Lavoro dal 2010.
~ Studia medicina da dieci anni. | Lavora da dieci anni.
# pt
= Sou enfermeira. | Trabalho como enfermeira.
= Moro em Curitiba há dez anos. | Há dez anos moro em Curitiba.
= Tenho um cachorro chamado Rex. | Meu cachorro se chama Rex.
= Não como carne. | Sou vegetariano.
= Acordo às seis. | Eu acordo às 6 horas.
= Minha mãe é professora. | Minha mãe trabalha como professora.
= Tenho medo de aranha. | Aranhas me dão medo.
= Prefiro chá a café. | Gosto mais de chá do que de café.
= Jogo futebol aos sábados. | Aos sábados eu jogo futebol.
= Estou aposentado desde 2019. | Me aposentei em 2019.
= Meu filho tem sete anos. | Tenho um filho de sete anos.
= Na verdade eu odeio futebol. | Eu odeio futebol.
= Tenho alergia a nozes. | Sou alérgica a nozes.
= Toda manhã eu corro no parque. | Eu corro no parque toda manhã.
= Não tenho carteira de motorista. | Não tirei carteira de motorista.
= Minha esposa é médica. | Minha mulher trabalha como médica.
= Moro sozinha. | Eu moro sozinha.
= Meu gato se chama Mingau. | Tenho um gato, o nome dele é Mingau.
= Sou casado há dez anos. | Estou casado faz dez anos.
= Trabalho à noite. | Trabalho no turno da noite.
= Tenho dois filhos. | Sou mãe de dois filhos.
= Parei de fumar em 2015. | Larguei o cigarro em 2015.
~ Moro sozinho desde o divórcio. | Moro sozinho desde o casamento.
~ Me aposentei em 2019. | Me casei em 2019.
~ Trabalho como garçom nos fins de semana. | Trabalho como garçom durante a semana.
~ Não tenho carro. | Não tenho carteira.
~ Parei de fumar há dez anos. | Comecei a fumar há dez anos.
# ja
= 私は看護師です。 | 看護師として働いています。
= 毎朝六時に起きます。 | 毎朝6時に起きる。
= コーヒーは飲みません。 | コーヒーを飲まないです。
= 土曜日に友達とテニスをします。 | 友達と土曜日にテニスをします。
= 東京に住んでいます。 | 東京に住んでる。
= 娘が二人います。 | 娘が2人いる。
= 犬を飼っています。名前はポチです。 | ポチという犬を飼っています。
= 肉は食べません。 | お肉を食べないんです。
= 辛いものが苦手です。 | 辛いものは苦手なんです。
= 夫は警察官です。 | 夫は警察官をしています。
= 図書館で毎日勉強しています。 | 毎日図書館で勉強しています。
= 泳げません。 | 私は泳げないんです。
= 息子は七歳です。 | 息子は7歳だよ。
= 週末はいつも釣りに行きます。 | いつも週末は釣りに行く。
= 彼氏は料理人です。 | 彼氏は料理人として働いています。
= 父は去年亡くなりました。 | 去年、父が亡くなりました。
= 実は左利きなんです。 | 左利きです。
= 猫アレルギーです。 | 猫にアレルギーがあります。
= 一人で暮らしています。 | 一人暮らしです。
= 妻は医者です。 | 妻は医者として働いています。
= タバコをやめました。 | 禁煙しました。
= 高いところが怖いです。 | 高所恐怖症です。
= 猫の名前はミケです。 | ミケという猫を飼っています。
= スペイン語が話せます。 | スペイン語を話せます。
= 紅茶よりコーヒーの方が好きです。 | コーヒーの方が紅茶より好き。
= 毎週土曜日にヨガに通っています。 | 土曜日はヨガに行っています。
= 結婚していません。 | 独身です。
~ 卵を食べるとアレルギーが出ます。 | 卵を食べるとお腹が痛くなります。
~ 免許は持っていません。 | 免許を持っています。
~ 妹は京都の大学に通っています。 | 妹は京都の大学で働いています。
~ 土曜日に友達とテニスをします。 | 日曜日に友達とテニスをします。
~ 毎朝コーヒーを飲みます。 | 毎晩コーヒーを飲みます。
~ 犬が欲しいんです。 | 犬がいるんです。
~ 三年前にタバコをやめました。 | 三年前にお酒をやめました。
~ 月曜日から働いています。 | 月曜日に働いています。
# zh
= 我是护士。 | 我的职业是护士。
= 我住在广州。 | 我现在住在广州。
= 我有两个孩子。 | 我有俩孩子。
= 我每天早上六点起床。 | 我早上6点起床。
= 我周末喜欢爬山。 | 周末我喜欢爬山。
= 我老公是医生。 | 我丈夫是医生。
= 我不喝咖啡。 | 咖啡我不喝。
= 我怕蜘蛛。 | 蜘蛛让我害怕。
= 我在银行上班。 | 我在银行工作。
= 我儿子在上海读大学。 | 我儿子在上海上大学。
= 我戒烟五年了。 | 我五年前戒的烟。
= 我妹妹叫小红。 | 我有个妹妹叫小红。
= 我爸是司机。 | 我爸爸是司机。
= 我不会游泳。 | 游泳我不会。
= 周六我和朋友打篮球。 | 我周六和朋友打篮球。
= 我女儿今年七岁。 | 我女儿七岁了。
= 说实话我讨厌下雨天。 | 我讨厌下雨天。
= 我习惯用左手。 | 我是左撇子。
= 我一个人住。 | 我自己住。
= 我是福建人。 | 我老家在福建。
= 我老婆是医生。 | 我老婆的职业是医生。
= 我恐高。 | 我怕高。
= 我的猫叫咪咪。 | 我养了一只叫咪咪的猫。
= 我会说西班牙语。 | 我会讲西班牙语。
= 比起咖啡我更喜欢茶。 | 我更喜欢茶而不是咖啡。
= 我每周六去练瑜伽。 | 每个周六我都去练瑜伽。
= 我还没结婚。 | 我未婚。
= 我爸爸去年去世了。 | 去年我爸爸去世了。
~ 我不吃辣。 | 我不吃甜。
~ 我室友是东北人。 | 我室友是南方人。
~ 我家有两只猫。 | 我家有两只狗。
~ 我女儿在杭州当老师。 | 我女儿在杭州当护士。
~ 我戒烟五年了。 | 我抽烟五年了。
~ 我退休了。 | 我爸退休了。
~ 我凌晨两点睡。 | 我下午两点睡。
~ 我没有车。 | 我没有房。
~ 我上夜班。 | 我上早班。
# ko
= 저는 간호사예요. | 저는 간호사로 일해요.
= 저는 서울에 살아요. | 서울에 살고 있어요.
= 아침마다 커피를 마셔요. | 저는 커피를 아침마다 마셔요.
= 저는 술을 안 마셔요. | 술 안 마셔.
= 제 강아지 이름은 초코예요. | 초코라는 강아지를 키워요.
= 저는 여섯 시에 일어나요. | 6시에 일어나.
= 토요일마다 친구와 축구를 해요. | 친구랑 토요일마다 축구해요.
= 저는 차가 없어요. | 차 없어요.
= 거미가 무서워요. | 저는 거미를 무서워해요.
= 제 남편은 의사예요. | 남편이 의사예요.
= 딸이 두 명 있어요. | 저는 딸이 둘 있어요.
= 저는 대학교에서 법학을 공부해요. | 대학교에서 법학 공부하고 있어요.
= 제 아들은 일곱 살이에요. | 아들이 7살이에요.
= 사실 저는 왼손잡이예요. | 저는 왼손잡이예요.
= 남편이랑 주말에 산에 가요. | 주말에 남편이랑 산에 가요.
= 저는 축구를 좋아해요. | 난 축구 좋아해.
= 아버지는 택시 기사예요. | 아버지는 택시 기사로 일하세요.
= 고양이 알레르기가 있어요. | 저는 고양이 알레르기 있어요.
= 저는 혼자 살아요. | 혼자 살고 있어요.
= 저는 부산 출신이에요. | 고향이 부산이에요.
= 제 아내는 의사예요. | 아내 직업이 의사예요.
= 담배를 끊었어요. | 저 담배 끊었어요.
= 고양이 이름은 나비예요. | 나비라는 고양이가 있어요.
= 커피보다 차를 더 좋아해요. | 차를 커피보다 더 좋아해요.
= 토요일마다 요가를 해요. | 매주 토요일에 요가해요.
= 저는 아직 결혼 안 했어요. | 저는 미혼이에요.
= 저는 스페인어를 할 줄 알아요. | 스페인어 할 수 있어요.
~ 오이를 싫어해요. | 오이를 좋아해요.
~ 저는 차가 없어요. | 저는 차가 있어요.
~ 새우 먹으면 알레르기 나와요. | 새우 먹으면 배가 아파요.
~ 엄마랑 시장에 가요. | 엄마가 시장에 가요.
~ 동생이 강아지를 키워요. | 강아지를 키워요.
~ 작년에 은퇴했어요. | 작년에 결혼했어요.
~ 친구와 축구를 해요. | 친구와 농구를 해요.
~ 저는 커피를 못 마셔요. | 저는 커피를 마셔요.
# ru
= Я живу в Москве. | Живу в Москве.
= Мой муж — врач. | Мой муж работает врачом.
= У меня двое детей. | У меня два ребёнка.
= Я не пью кофе. | Кофе я не пью.
= Я боюсь пауков. | Мне страшны пауки.
= По субботам мы ездим на дачу. | Мы по субботам ездим на дачу.
= Я встаю в шесть утра. | Я встаю в 6 утра.
= Мою собаку зовут Рекс. | У меня есть собака по кличке Рекс.
= Я бросил курить пять лет назад. | Пять лет назад я бросил курить.
= Я работаю в банке. | Я сотрудник банка.
= Мама живёт в Туле. | Моя мама живёт в Туле.
= Моему сыну семь лет. | Сыну 7 лет.
= Кстати, я левша. | Я левша.
= У меня есть кошка. | У меня кошка.
= Мы с мужем женаты десять лет. | Мы женаты десять лет.
= По воскресеньям я пеку пироги. | Я пеку пироги по воскресеньям.
= У меня аллергия на кошек. | Я аллергик на кошек.
= Я живу один. | Я живу сам.
= Я родом из Казани. | Я из Казани.
= Моя жена — врач. | Жена работает врачом.
= Я замужем десять лет. | Я уже десять лет замужем.
= Я говорю по-испански. | Я умею говорить по-испански.
= Мою кошку зовут Муся. | У меня кошка Муся.
= Я работаю по ночам. | Я работаю в ночную смену.
= Я не женат. | Я холост.
~ У меня, кстати, аллергия на мёд. | У меня, кстати, аллергия на молоко.
~ Я не ем рыбу. | Я не ем мясо.
~ Я подрабатываю курьером. | Я подрабатываю няней.
~ Я бросил курить пять лет назад. | Я начал курить пять лет назад.
~ Я на пенсии. | Мой муж на пенсии.
~ Я боюсь летать. | Я люблю летать.
# tr
= Ben hemşireyim. | Hemşire olarak çalışıyorum.
= İzmir'de yaşıyorum. | Ben İzmir'de oturuyorum.
= İki çocuğum var. | Benim iki çocuğum var.
= Kahve içmiyorum. | Ben kahve içmem.
= Her sabah koşuyorum. | Sabahları koşarım.
= Kocam doktor. | Benim kocam doktor.
= Köpeğimin adı Karabaş. | Karabaş adında bir köpeğim var.
= Örümceklerden korkarım. | Örümceklerden korkuyorum.
= Cumartesi günleri annemle pazara gideriz. | Annemle cumartesi günleri pazara gideriz.
= Çayı kahveye tercih ederim. | Kahve yerine çayı tercih ederim.
= Oğlum yedi yaşında. | Benim oğlum 7 yaşında.
= Aslında solağım. | Solağım.
= Pazar günleri balık tutmaya giderim. | Balık tutmaya pazar günleri giderim.
= Fıstığa alerjim var. | Benim fıstığa alerjim var.
= Kediye alerjim var. | Benim kedi alerjim var.
= Yalnız yaşıyorum. | Tek başıma yaşıyorum.
= Bursalıyım. | Memleketim Bursa.
= Eşim doktor. | Eşim doktor olarak çalışıyor.
= Kedimin adı Pamuk. | Pamuk adında bir kedim var.
= Geceleri çalışıyorum. | Gece vardiyasında çalışıyorum.
= İspanyolca biliyorum. | İspanyolca konuşabiliyorum.
= Bekarım. | Evli değilim.
= On yıldır evliyim. | On senedir evliyim.
~ Kızım Ankara'da avukat. | Kızım Ankara'da öğretmen.
~ Sigarayı beş yıl önce bıraktım. | İşimi beş yıl önce bıraktım.
~ Sigarayı beş yıl önce bıraktım. | Sigarayı on yıl önce bıraktım.
~ Emekliyim. | Babam emekli.
~ Arabam yok. | Arabam var.
# ar
= أنا ممرضة. | أعمل ممرضة.
= أسكن في الرياض. | أنا ساكن في الرياض.
= عندي ابنان. | عندي ولدين.
= لا أشرب القهوة. | أنا ما أشرب القهوة.
= أستيقظ الساعة السادسة صباحا. | أصحو الساعة 6 صباحا.
= زوجي طبيب. | زوجي يعمل طبيبا.
= أحب الشاي أكثر من القهوة. | أفضل الشاي على القهوة.
= يوم الجمعة ألعب كرة القدم. | ألعب كرة القدم يوم الجمعة.
= ليس لدي سيارة. | ما عندي سيارة.
= أخاف من العناكب. | العناكب تخيفني.
= ابني عمره سبع سنوات. | عمر ابني سبع سنوات.
= بصراحة أكره كرة القدم. | أكره كرة القدم.
= أعمل في مستشفى. | أنا أعمل في مستشفى.
= عندي قطة. | لدي قطة.
= أقلعت عن التدخين. | توقفت عن التدخين.
= عندي حساسية من القطط. | أتحسس من القطط.
= أعيش وحدي. | أسكن لوحدي.
= أنا من دمشق. | أصلي من دمشق.
= زوجتي طبيبة. | زوجتي تعمل طبيبة.
= اسم قطتي لولو. | قطتي اسمها لولو.
= أعمل ليلا. | أعمل في الوردية الليلية.
= أنا أعزب. | أنا غير متزوج.
= أتكلم الإسبانية. | أتحدث اللغة الإسبانية.
~ ابني يدرس الطب. | ابنتي تدرس الطب.
~ عندي قطتان. | عندي قطة.
~ تقاعدت في 2015. | تزوجت في 2015.
~ لا أشرب القهوة. | لا أشرب الشاي.
~ أخي أكبر مني. | أختي أكبر مني.
~ العناكب تخيفني. | العناكب تعجبني.
`;
