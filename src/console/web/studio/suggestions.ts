import { Brain, Clapperboard, ImagePlus, Sparkles } from 'lucide-react';

export const suggestions = [
  { text: 'An image of a lighthouse at dusk', Icon: ImagePlus },
  { text: 'A video of waves', Icon: Clapperboard },
  { text: 'Remember that I like warm colors', Icon: Brain },
  { text: 'What do you know about me?', Icon: Sparkles },
];
