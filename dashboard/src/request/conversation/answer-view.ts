/** The ways in which an answer can be read. */

export const ANSWER_VIEWS = ["rendered", "text", "json"] as const;

export type AnswerView = (typeof ANSWER_VIEWS)[number];
