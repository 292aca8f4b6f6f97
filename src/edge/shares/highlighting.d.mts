declare const highlighter: {
  getLanguage(name: string): object | undefined;
  /** Returns HTML. An error of its parser results in the code without colors. */
  highlight(code: string, options: { readonly language: string }): { readonly value: string };
};
export default highlighter;
