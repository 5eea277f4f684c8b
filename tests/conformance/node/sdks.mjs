// Read an SDK and its calls as JSON from standard input, and make the calls concurrently with this official SDK. Write
// the answers as JSON, in the order of the calls: what the SDK reports and, if it raised an error, the error.
//
// A call has the base URL, additional headers, the request, and whether the response is streamed.
import { text } from "node:stream/consumers";

const { sdk, apiKey, calls } = JSON.parse(await text(process.stdin));
const answerOf = () => ({ model: null, id: null, text: "", thoughts: "", calls: [], finish_reason: null });
const parse = (json) => JSON.parse(json || "{}");

// Each function makes one call and fills the answer.
const sdks = {
  async openai() {
    const { default: OpenAI } = await import("openai");
    return async ({ baseURL, headers, request, streamed }, answer) => {
      const client = new OpenAI({ apiKey, baseURL, maxRetries: 0, defaultHeaders: headers });
      let completion;
      if (streamed) {
        const stream = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
        completion = await stream.finalChatCompletion();
      } else completion = await client.chat.completions.create(request);
      const [choice] = completion.choices;
      const tools = choice.message.tool_calls ?? [];
      Object.assign(answer, {
        model: completion.model,
        id: completion.id,
        text: choice.message.content ?? "",
        calls: tools.map((call) => [call.function.name, parse(call.function.arguments), call.id]),
        finish_reason: choice.finish_reason,
        input_tokens: completion.usage.prompt_tokens,
        output_tokens: completion.usage.completion_tokens,
      });
    };
  },

  async anthropic() {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    return async ({ baseURL, headers, request, streamed }, answer) => {
      const client = new Anthropic({ apiKey, baseURL, maxRetries: 0, defaultHeaders: headers });
      const message = await (streamed
        ? client.messages.stream(request).finalMessage()
        : client.messages.create(request));
      for (const block of message.content) {
        if (block.type === "text") answer.text += block.text;
        if (block.type === "tool_use") answer.calls.push([block.name, block.input, block.id]);
      }
      Object.assign(answer, {
        model: message.model,
        id: message.id,
        finish_reason: message.stop_reason,
        input_tokens: message.usage.input_tokens,
        output_tokens: message.usage.output_tokens,
      });
    };
  },

  async google() {
    const { GoogleGenAI } = await import("@google/genai");
    return async ({ baseURL, headers, request, streamed }, answer) => {
      const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: baseURL, headers } });
      const chunks = streamed ? await models.generateContentStream(request) : [await models.generateContent(request)];
      for await (const chunk of chunks) {
        const [candidate] = chunk.candidates;
        for (const part of candidate.content?.parts ?? []) {
          answer.text += part.text ?? "";
          const call = part.functionCall;
          if (call) answer.calls.push([call.name, call.args, call.id ?? null]);
        }
        answer.model = chunk.modelVersion;
        answer.id = chunk.responseId;
        answer.finish_reason = candidate.finishReason ?? null;
        answer.input_tokens = chunk.usageMetadata?.promptTokenCount ?? null;
        answer.output_tokens = chunk.usageMetadata?.candidatesTokenCount ?? null;
      }
    };
  },

  async ollama() {
    const { Ollama } = await import("ollama");
    return async ({ baseURL, headers, request, streamed }, answer) => {
      const client = new Ollama({ host: baseURL, headers });
      const response = await client.chat({ ...request, stream: streamed });
      for await (const part of streamed ? response : [response]) {
        answer.text += part.message.content;
        for (const call of part.message.tool_calls ?? [])
          answer.calls.push([call.function.name, call.function.arguments, null]);
        answer.model = part.model;
        answer.finish_reason = part.done_reason ?? null;
        answer.input_tokens = part.prompt_eval_count ?? null;
        answer.output_tokens = part.eval_count ?? null;
      }
    };
  },

  async cohere() {
    const { CohereClientV2 } = await import("cohere-ai");
    return async ({ baseURL, headers, request, streamed }, answer) => {
      const client = new CohereClientV2({ token: apiKey, environment: baseURL });
      const options = { maxRetries: 0, headers };
      const finish = (message) => {
        answer.finish_reason = message.finishReason;
        answer.input_tokens = message.usage.tokens.inputTokens;
        answer.output_tokens = message.usage.tokens.outputTokens;
      };
      if (!streamed) {
        const response = await client.chat(request, options);
        answer.id = response.id;
        answer.thoughts = response.message.toolPlan ?? "";
        for (const block of response.message.content ?? []) answer.text += block.text ?? "";
        for (const { function: called, id } of response.message.toolCalls ?? [])
          answer.calls.push([called.name, parse(called.arguments), id]);
        finish(response);
        return;
      }
      const started = [];
      for await (const event of await client.chatStream(request, options)) {
        const message = event.delta?.message;
        if (event.type === "message-start") answer.id = event.id;
        if (event.type === "content-delta") answer.text += message.content.text ?? "";
        if (event.type === "tool-plan-delta") answer.thoughts += message.toolPlan;
        if (event.type === "tool-call-start") started.push(message.toolCalls);
        if (event.type === "tool-call-delta")
          started[event.index].function.arguments += message.toolCalls.function.arguments;
        if (event.type === "message-end") finish(event.delta);
      }
      answer.calls = started.map((call) => [call.function.name, parse(call.function.arguments), call.id]);
    };
  },

  async mistral() {
    const { Mistral } = await import("@mistralai/mistralai");
    return async ({ baseURL, headers, request, streamed }, answer) => {
      const { chat } = new Mistral({ apiKey, serverURL: baseURL });
      const response = streamed ? await chat.stream(request, { headers }) : await chat.complete(request, { headers });
      for await (const item of streamed ? response : [response]) {
        const chunk = streamed ? item.data : item;
        const [choice] = chunk.choices;
        const message = streamed ? choice.delta : choice.message;
        answer.text += message.content ?? "";
        for (const call of message.toolCalls ?? [])
          answer.calls.push([call.function.name, parse(call.function.arguments), call.id]);
        answer.model = chunk.model;
        answer.id = chunk.id;
        answer.finish_reason = choice.finishReason ?? null;
        answer.input_tokens = chunk.usage?.promptTokens ?? null;
        answer.output_tokens = chunk.usage?.completionTokens ?? null;
      }
    };
  },
};

const make = await sdks[sdk]();

async function answer(call) {
  const found = answerOf();
  try {
    await make(call, found);
    return found;
  } catch (error) {
    const { message, status, statusCode, status_code } = error;
    return { ...found, error: { class: error.constructor.name, status: status ?? statusCode ?? status_code, message } };
  }
}

process.stdout.write(JSON.stringify(await Promise.all(calls.map(answer))));
