/** Pairs in English, German, French, Spanish, Italian, Portuguese, Dutch and Swedish; see merging.fixture.ts. */
export const west = `
# en
= I prefer a watercolour style | I prefer a watercolor style
= Prefers transparent background | Prefers transparent backgrounds
= Prefers 16:9 | prefers 16 : 9
= The launch is on 5 March 2027 | The launch is on March 5, 2027
= The launch is on 2027-03-05 | The launch is on 5 March 2027
= Exports at 2048×2048 | Exports at 2048x2048
= I've got a raincoat | I have got a rain coat
= The standup is at 2 pm | The standup is at 14:00
= I love sushi | I enjoy sushi
= I reside in Leeds | I live in Leeds
= Every morning I do yoga | I do yoga every morning
= The user owns twenty-five hens | I own 25 hens
= Please keep replies brief | Keep answers short
= My dog is called Rex | My dog is named Rex
= I organise weddings in Kent | I organize weddings in Kent
= I can't eat shellfish | I cannot eat shellfish
~ Notify me about video generations | Notify me about failed video generations
~ I design logos for my clients | I design logos for my female clients
~ I photograph the cakes of our bakery | I photograph the cakes of our old bakery
~ The hero wears a blue coat in panel A | The hero wears a blue coat in panel B
~ Add a border to every exported picture | Add a border to every second exported picture
~ My sister is Anna | My brother is Anna
~ I live in Lisbon | I live in Porto
~ Use version A for Kai | Use version B for Kai
~ I work for Nokia | I worked for Nokia
~ I have an iPad | I have an iPhone
~ Answer in German | Answer in English
~ Use Helvetica for titles | Use Garamond for titles
~ My son plays chess | My sons play chess
~ Draw the cat with the hat | Draw the cat in the hat box
~ Send me the invoice | Send me the invoice only if it is overdue
~ The logo has a lion | The logo has a lion and a crown
! Put the logo on the left | Put the logo on the right
! I like jazz | I hate jazz
! I moved from Lyon | I moved to Lyon
! I prefer warm colors | I prefer cold colors
! Call me before Christmas | Call me after Christmas
! I always add captions | I never add captions
! Use thick outlines | Use outlines, thick ones avoided
! I smoke | I quit smoking
! I use filters | I stopped using filters
! Include the watermark in previews | Exclude the watermark from previews
! Make the background light | Make the background dark
! I drink alcohol | I don't drink alcohol
! Write long captions | Write short captions
! The review is on Monday | The review is on Tuesday
! I eat gluten | I avoid gluten
! Anna manages Ben | Ben manages Anna
! I have three cats | I have four cats
! You should use emojis | You shouldnt use emojis
# de
= Ich bevorzuge einen weißen Hintergrund | Ich bevorzuge einen weißen Hintergrund.
= Die Premiere ist am 5. März 2027 | Die Premiere ist am 05.03.2027
= Ich habe drei Katzen | Ich habe 3 Katzen
= Bitte antworte immer kurz | Antworte immer kurz
= Ich wohne in Kassel | Ich lebe in Kassel
= Mein Hund heißt Bruno | mein Hund heißt Bruno!
= Der Benutzer isst gern Spargel | Ich esse gern Spargel
= Abends trinke ich Kräutertee | Ich trinke abends Kräutertee
= Ich zeichne sehr gern Vögel | Ich zeichne gern Vögel
= Exportiere alles in 1920 x 1080 | Exportiere alles in 1920x1080
~ Zeig mir neue Videos | Zeig mir neue lustige Videos
~ Meine Schwester heißt Eva | Meine Tochter heißt Eva
~ Ich arbeite in Bonn | Ich arbeite in Köln
~ Ich fotografiere Hochzeiten | Ich fotografierte Hochzeiten
~ Ich mag die Farbe Blau | Ich mag die Farbe Grün
~ Ich spiele Geige | Ich spiele Klavier
~ Schicke mir die Rechnung | Schicke mir die Rechnung nur auf Anfrage
~ Meine Kunden kommen aus Wien | Meine neuen Kunden kommen aus Wien
~ Die Figur trägt einen Hut | Die Figur trägt einen Hut und einen Schal
~ Nutze Helvetica für Titel | Nutze Garamond für Titel
! Das Wasserzeichen gehört nach unten links | Das Wasserzeichen gehört nach unten rechts
! Ich mag Jazz | Ich hasse Jazz
! Ich esse Fisch | Ich esse weder Fisch noch Fleisch
! Ich benutze Filter | Ich benutze keinerlei Filter
! Vermeide Schatten | Nutze Schatten
! Das Treffen ist am Dienstag | Das Treffen ist am Mittwoch
! Ich mag warme Farben | Ich mag kalte Farben
! Ruf mich vor der Messe an | Ruf mich nach der Messe an
! Ich rauche | Ich habe aufgehört zu rauchen
! Ich bin immer erreichbar | Ich bin nirgends erreichbar
# fr
= J'aime le thé vert | J'aime beaucoup le thé vert
= Le vernissage est le 5 mars 2027 | Le vernissage est le 2027-03-05
= J'ai trois chats | J'ai 3 chats
= J'habite à Nantes | Je vis à Nantes
= Réponds en français, s'il te plaît | Réponds en français
= Tous les jours je fais du vélo | Je fais du vélo tous les jours
= Mon chien s'appelle Filou | mon chien s’appelle Filou !
= Je préfère les fonds transparents | Je préfère les fonds transparents.
= L'utilisateur est végétarien | L'utilisateur est végétarien !
= Exporte en 2048×2048 | Exporte en 2048 x 2048
~ Mes clients sont à Lyon | Mes clients fidèles sont à Lyon
~ Ma sœur s'appelle Zoé | Ma fille s'appelle Zoé
~ Je travaille à Metz | Je travaille à Nancy
~ J'étais infirmière | Je suis infirmière
~ Ma couleur préférée est le bleu | Ma couleur préférée est le rouge
~ J'apprends le piano | J'apprends la guitare
~ Envoie la facture | Envoie la facture seulement si je la demande
~ Le logo montre un lion | Le logo montre un lion et une rose
~ Utilise la version A pour Kim | Utilise la version B pour Kim
~ J'ai une voiture rouge | J'ai une vieille voiture rouge
! J'utilise des filtres | Je n'utilise plus de filtres
! J'aime le jazz | Je n'aime plus le jazz
! Je mange de la viande et du poisson | Je ne mange ni viande ni poisson
! Je dors bien | Je ne dors guère bien
! Place le logo à gauche | Place le logo à droite
! J'aime le café | Je déteste le café
! Appelle-moi avant Noël | Appelle-moi après Noël
! La réunion est jeudi | La réunion est vendredi
! Ajoute des ombres | Évite les ombres
! Je fume | J'ai arrêté de fumer
# es
= Me gusta el té verde | Me gusta mucho el té verde
= La boda es el 5 de marzo de 2027 | La boda es el 2027-03-05
= Tengo tres gatos | Tengo 3 gatos
= Vivo en Murcia | Resido en Murcia
= Responde en español, por favor | Responde en español
= Todos los días corro | Corro todos los días
= Mi perro se llama Toby | mi perro se llama Toby.
= Prefiero respuestas cortas | Prefiero respuestas breves
= Yo trabajo en un hospital | Trabajo en un hospital
= Exporta a 1024×768 | Exporta a 1024x768
~ Mis clientes son de Bilbao | Mis clientes nuevos son de Bilbao
~ Mi hermana se llama Sol | Mi hija se llama Sol
~ Trabajo en Vigo | Trabajo en Gijón
~ Era profesora | Soy profesora
~ Mi color favorito es el azul | Mi color favorito es el rojo
~ Toco la guitarra | Toco el piano
~ Envía la factura | Envía la factura solo si la pido
~ El logo tiene un león | El logo tiene un león y una corona
~ Usa la versión A para Kim | Usa la versión B para Kim
~ Hablo con Ana | Habló con Ana
! Uso filtros | Apenas uso filtros
! Me gusta el jazz | Odio el jazz
! Pon el logo a la izquierda | Pon el logo a la derecha
! Como carne | Ya no como carne
! Fumo | Dejé de fumar
! La reunión es el lunes | La reunión es el martes
! Llámame antes de Navidad | Llámame después de Navidad
! Usa colores cálidos | Usa colores fríos
! Añade sombras | Evita las sombras
! Siempre pongo marca de agua | Nunca pongo marca de agua
# it
= Mi piace il tè verde | Mi piace molto il tè verde
= La mostra è il 5 marzo 2027 | La mostra è il 2027-03-05
= Ho tre gatti | Ho 3 gatti
= Abito a Bari | Vivo a Bari
= Rispondi in italiano, per favore | Rispondi in italiano
= Ogni giorno corro | Corro ogni giorno
= Il mio cane si chiama Argo | il mio cane si chiama Argo!
= Preferisco risposte brevi | Preferisco risposte corte
= Io lavoro in ospedale | Lavoro in ospedale
= Esporta a 800×600 | Esporta a 800 x 600
~ I miei clienti sono di Torino | I miei clienti migliori sono di Torino
~ Mia sorella si chiama Gaia | Mia figlia si chiama Gaia
~ Lavoro a Trento | Lavoro a Udine
~ Ero un cuoco | Sono un cuoco
~ Il mio colore preferito è il blu | Il mio colore preferito è il verde
~ Suono il violino | Suono il pianoforte
~ Manda la fattura | Manda la fattura solo se la chiedo
~ Il logo ha un leone | Il logo ha un leone e una rosa
~ Usa la versione A per Kim | Usa la versione B per Kim
~ Ho una macchina rossa | Ho una vecchia macchina rossa
! Mi piace il jazz | Odio il jazz
! Metti il logo a sinistra | Metti il logo a destra
! Mangio carne | Non mangio più carne
! Fumo | Ho smesso di fumare
! La riunione è lunedì | La riunione è martedì
! Chiamami prima di Natale | Chiamami dopo Natale
! Usa colori caldi | Usa colori freddi
! Aggiungi ombre | Evita le ombre
! Bevo vino | Non bevo né vino né birra
! Uso sempre i filtri | Non uso mai i filtri
# pt
= Gosto de chá verde | Gosto muito de chá verde
= O casamento é em 5 de março de 2027 | O casamento é em 2027-03-05
= Tenho três gatos | Tenho 3 gatos
= Moro em Braga | Vivo em Braga
= Responda em português, por favor | Responda em português
= Todos os dias eu corro | Eu corro todos os dias
= Meu cachorro se chama Bidu | meu cachorro se chama Bidu!
= Prefiro respostas curtas | Prefiro respostas breves
= Eu trabalho num hospital | Trabalho num hospital
= A aula é na segunda-feira | A aula é na segunda feira
~ Meus clientes são de Recife | Meus clientes antigos são de Recife
~ Minha irmã se chama Lua | Minha filha se chama Lua
~ Trabalho em Faro | Trabalho em Évora
~ Eu era professora | Eu sou professora
~ Minha cor favorita é azul | Minha cor favorita é verde
~ Toco violão | Toco piano
~ Envie a fatura | Envie a fatura só se eu pedir
~ O logo tem um leão | O logo tem um leão e uma coroa
~ Use a versão A para Kim | Use a versão B para Kim
~ Tenho um carro vermelho | Tenho um carro vermelho velho
! A reunião é na segunda-feira | A reunião é na terça-feira
! Uso filtros | Deixei de usar filtros
! Uso filtros nas fotos | Apenas uso filtros nas fotos antigas
! Gosto de jazz | Odeio jazz
! Ponha o logo à esquerda | Ponha o logo à direita
! Como carne | Não como mais carne
! Use cores quentes | Use cores frias
! Ligue antes do Natal | Ligue depois do Natal
! Adicione sombras | Evite sombras
! Sempre uso marca d'água | Nunca uso marca d'água
# nl
= Ik hou van groene thee | Ik hou heel erg van groene thee
= De opening is op 5 maart 2027 | De opening is op 2027-03-05
= Ik heb drie katten | Ik heb 3 katten
= Antwoord alsjeblieft in het Nederlands | Antwoord in het Nederlands
= Elke dag fiets ik | Ik fiets elke dag
= Mijn hond heet Bas | mijn hond heet Bas!
= De gebruiker werkt in een ziekenhuis | de gebruiker werkt in een ziekenhuis.
= Exporteer op 640×480 | Exporteer op 640 x 480
= Ik wil echt een witte achtergrond | Ik wil een witte achtergrond
= Ik woon in Utrecht | ik woon in Utrecht
~ Mijn klanten komen uit Gent | Mijn nieuwe klanten komen uit Gent
~ Mijn zus heet Fem | Mijn dochter heet Fem
~ Ik werk in Breda | Ik werk in Zwolle
~ Ik was kok | Ik ben kok
~ Mijn lievelingskleur is blauw | Mijn lievelingskleur is groen
~ Ik speel viool | Ik speel piano
~ Stuur de factuur | Stuur de factuur alleen als ik erom vraag
~ Het logo heeft een leeuw | Het logo heeft een leeuw en een kroon
~ Gebruik versie A voor Kim | Gebruik versie B voor Kim
~ Ik heb een rode auto | Ik heb een oude rode auto
! Ik wil altijd een witte achtergrond bij mijn foto's | Ik wil niet altijd een witte achtergrond bij mijn foto's
! Ik eet vlees | Ik eet geen vlees
! Zet het logo links | Zet het logo rechts
! Ik rook | Ik ben gestopt met roken
! De vergadering is op maandag | De vergadering is op dinsdag
! Bel me voor Kerst | Bel me na Kerst
! Gebruik warme kleuren | Gebruik koude kleuren
! Voeg schaduwen toe | Vermijd schaduwen
! Ik gebruik altijd filters | Ik gebruik nooit filters
! Ik heb twee broers | Ik heb drie broers
# sv
= Jag gillar grönt te | Jag gillar verkligen grönt te
= Invigningen är den 5 mars 2027 | Invigningen är den 2027-03-05
= Jag har tre katter | Jag har 3 katter
= Svara på svenska, tack | Svara på svenska
= Varje dag cyklar jag | Jag cyklar varje dag
= Min hund heter Sixten | min hund heter Sixten!
= Jag bor i Umeå | jag bor i Umeå.
= Jag älskar hav | Jag gillar hav
= Exportera i 640×480 | Exportera i 640x480
= Jag arbetar på ett sjukhus | Jag arbetar på ett sjukhus!
~ Mina kunder kommer från Lund | Mina nya kunder kommer från Lund
~ Min syster heter Alva | Min dotter heter Alva
~ Jag jobbar i Malmö | Jag jobbar i Kalmar
~ Jag var kock | Jag är kock
~ Min favoritfärg är blå | Min favoritfärg är grön
~ Jag spelar fiol | Jag spelar piano
~ Skicka fakturan | Skicka fakturan bara om jag ber om den
~ Loggan har ett lejon | Loggan har ett lejon och en krona
~ Använd version A för Kim | Använd version B för Kim
~ Jag har en röd bil | Jag har en gammal röd bil
! Jag vill alltid ha vit bakgrund på mina bilder | Jag vill inte alltid ha vit bakgrund på mina bilder
! Jag äter kött | Jag äter inte kött
! Placera loggan till vänster | Placera loggan till höger
! Jag röker | Jag har slutat röka
! Mötet är på måndag | Mötet är på tisdag
! Ring mig före jul | Ring mig efter jul
! Använd varma färger | Använd kalla färger
! Lägg till skuggor | Undvik skuggor
! Jag använder alltid filter | Jag använder aldrig filter
! Jag gillar jazz | Jag hatar jazz
`;
