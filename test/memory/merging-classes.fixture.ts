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
~ Mein Vater hilft meinem Onkel im Laden. | Meinem Vater hilft mein Onkel im Laden.
~ Der Hund beißt den Nachbarn. | Den Hund beißt der Nachbar.
~ Meine Mutter hilft meiner Tante. | Meiner Mutter hilft meine Tante.
~ Mein Bruder besucht meinen Opa. | Meinen Bruder besucht mein Opa.
~ Der Onkel hilft dem Vater. | Dem Onkel hilft der Vater.
= Ich geh jeden Sonntag joggen. | Ich gehe jeden Sonntag joggen.
= Ich darf keine Erdnüsse essen, weil ich allergisch bin. | Ich bin allergisch gegen Erdnüsse.
= Wir haben 2015 geheiratet. | Meine Frau und ich haben 2015 geheiratet.
= Ich bin Grundschullehrerin. | Ich unterrichte an einer Grundschule.
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
`;
