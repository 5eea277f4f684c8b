// Read calls as JSON from standard input, and make them concurrently with the official SDK. Write the results as JSON:
// the text of each call and, if the SDK raised an error, the error.
import { text } from "node:stream/consumers";
import OpenAI from "openai";

const { apiKey, calls } = JSON.parse(await text(process.stdin));

async function make({ baseURL, maxRetries, timeout, headers, asked }) {
  const client = new OpenAI({ apiKey, baseURL, maxRetries, timeout, defaultHeaders: headers });
  const said = { chunks: 0, text: "" };
  try {
    const answer = await client.chat.completions.create(asked);
    if (!asked.stream) {
      said.text = answer.choices[0].message.content;
      return said;
    }
    for await (const chunk of answer) {
      said.chunks += 1;
      said.text += chunk.choices[0]?.delta?.content ?? "";
    }
    return said;
  } catch (error) {
    const { status, code, type, message, requestID } = error;
    return { ...said, error: { class: error.constructor.name, status, code, type, message, requestID } };
  }
}

process.stdout.write(JSON.stringify(await Promise.all(calls.map(make))));
