/**
 * Conversations over several days, made up for this repository, with questions about single turns. A blank line begins
 * another day. A line that begins with `?` is a question about the turn before it.
 */
const written = [
  `Mara: Hey Tom! How was the move? Are you settled in?
Tom: Almost. There are still boxes everywhere, but the new flat in Ghent is lovely.
? Which city did Tom relocate to?
Mara: Nice! Do you have a view?
Tom: I look straight onto the canal. The rent is a bit steep, though.
? What can Tom see from his window?
Mara: I can imagine. I finally signed up for that pottery course.
? Which course did Mara sign up for?
Tom: Oh cool, the one near the station?
Mara: Yes, every Tuesday evening, twelve weeks in all.
? On which evening is Mara's course?
Tom: You'll be making all of us bowls for Christmas.
Mara: Ha, that's the plan. My mother already asked for a teapot.
? What did Mara's mother ask for?

Tom: Guess what, I got the job at the museum!
? Where did Tom get a job?
Mara: Congratulations! When do you start?
Tom: On the first of May. I'll be restoring maps.
? When does Tom start restoring maps?
Mara: That sounds like you. I had a less glorious week, I sprained my ankle.
? Which ankle trouble did Mara have?
Tom: Ouch, what happened?
Mara: Slipped on wet leaves while running in the park.
? What happened to Mara when she was running?
Tom: No marathon for you this autumn, then?
Mara: No, the doctor says I have to rest for two months.
? How many weeks off did the physician order?
Tom: Take care of yourself. Shall I bring you some books?
Mara: Yes please! Anything but crime novels, they give me nightmares.
? Does Mara read crime novels?

Mara: My sister just told me she's expecting twins!
? Who is pregnant in Mara's family?
Tom: Wow, two at once! When is it due?
Mara: Around New Year. She's thinking of calling them Ivo and Lena.
? What does Mara's sister want to call the twins?
Tom: Lovely names. I adopted a cat from the shelter last Saturday.
? When did Tom adopt his cat?
Mara: No way! What's she like?
Tom: Shy, grey and always hungry. I named her Mercator.
? What is the kitty called?
Mara: Of course you named her after a mapmaker.
Tom: By the way, I'm thinking of selling my motorbike.
? Is Tom selling his motorbike?
Mara: Really? You loved that thing.
Tom: I need the money for a piano, I've wanted one for years.
? Why does Tom need money?`,
  `Ines: Did you watch the match yesterday?
Kofi: Only the second half, I had a late shift at the hospital.
? In which hospital shift did Kofi miss the match?
Ines: You missed an amazing goal in the tenth minute.
Kofi: I saw it on the news. How's the thesis going?
Ines: Slowly. I still have to write the chapter about coral reefs.
? What is the chapter of Ines's thesis about?
Kofi: When do you hand it in?
Ines: At the end of September, if my supervisor agrees.
? What is the due date of the dissertation?
Kofi: You'll manage. I'm learning to surf, can you believe it?
? Which water sport has Kofi taken up?
Ines: In this cold weather?
Kofi: I bought a thick wetsuit, it's fine.

Ines: I cooked your groundnut stew for my flatmates!
? What did Ines cook for her flatmates?
Kofi: And? Did they like it?
Ines: They loved it, except Jan, who can't have peanuts.
? Who can't eat peanuts?
Kofi: Oh no, I should have warned you.
Ines: He had toast instead, no harm done.
Kofi: My grandmother would be proud of you, it's her recipe.
? Whose recipe is the stew?
Ines: Tell her thanks! Is she still in Kumasi?
Kofi: Yes, she turned ninety last week. The whole village danced.
? How old is Kofi's grandma?
Ines: I wish I could have seen that.
Kofi: I fly there in December, you could come along.
? When does Kofi fly home?

Kofi: Bad news, somebody stole my bicycle.
? What was taken from Kofi?
Ines: The red one? Did you lock it?
Kofi: With two locks, right in front of the library.
? Where was the bicycle locked?
Ines: That's awful. Are you insured?
Kofi: No, and I can't afford another before my next salary.
Ines: Take mine for now, I mostly walk.
? How does Ines usually get around?
Kofi: You're the best. How was your date?
Ines: Good! He's an astronomer and makes terrible jokes.
? Who is the astronomer that Ines met?
Kofi: Sounds promising.
Ines: We're going to see a play on Friday.
? What are Ines and her date doing at the end of the week?
Kofi: Have fun! I'll be packing, I got a place in the doctors' dormitory.
? Where will Kofi be living?`,
  `Rosa: I quit smoking three weeks ago.
? When did Rosa quit smoking?
Dev: That's huge! How do you feel?
Rosa: Grumpy, but I can smell flowers again.
Dev: Reward yourself with something.
Rosa: I booked a weekend in a treehouse in the Ardennes.
? Which weekend trip did Rosa book?
Dev: Jealous! I'm stuck here, repairing the roof.
? What is Dev fixing at his house?
Rosa: Did the storm damage it?
Dev: A whole row of tiles flew into the neighbor's garden.
? Where did the shingles land?
Rosa: Was anybody hurt?
Dev: Only his garden gnome.

Dev: My daughter won the spelling contest at school.
? What did Dev's daughter win?
Rosa: Amazing, how old is she now?
Dev: Eleven, and taller than her mother.
? What is the age of Dev's girl?
Rosa: Time flies. My band plays at the harbor festival in July.
? When does Rosa's band play?
Dev: You still play bass?
Rosa: I switched to accordion, actually.
? Who plays the accordion?
Dev: I want to hear that.
Rosa: Come! Entrance is free and there's vegan food for you.
? What kind of diet does Dev have?

Dev: I'm closing the shop at the end of the year.
? When is Dev closing the shop?
Rosa: What? Why?
Dev: Nobody buys typewriters any more, sadly.
? What products does Dev sell?
Rosa: What will you do instead?
Dev: Teach mathematics, I passed the exam for it.
? Which subject will Dev teach?
Rosa: You'll be a great teacher.
Dev: Thanks. And you, still looking for a flat?
Rosa: I found one, fifth floor, no elevator, but a terrace!
? On which floor is Rosa's flat?
Dev: Good for your legs.
Rosa: I'm scared of carrying the freezer up there.
? Which appliance is Rosa worried about?`,
];

export interface Conversation {
  /** The second day is a day later than the first. */
  readonly turns: readonly { readonly content: string; readonly atMs: number }[];
  readonly questions: readonly { readonly question: string; readonly answer: string }[];
}

const dayMs = 24 * 3600 * 1000;
const turnMs = 60 * 1000;

export const conversations: readonly Conversation[] = written.map((text) => {
  const turns: { content: string; atMs: number }[] = [];
  const questions: { question: string; answer: string }[] = [];
  let day = 0;
  for (const line of text.split('\n')) {
    if (line === '') day += 1;
    else if (line.startsWith('? ')) questions.push({ question: line.slice(2), answer: turns.at(-1)?.content ?? '' });
    else turns.push({ content: line, atMs: day * dayMs + turns.length * turnMs });
  }
  return { turns, questions };
});
