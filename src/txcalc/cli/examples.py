"""Three examples of each command, shown below its help."""

EXAMPLES = {
    "params": (
        "txcalc params gpt3",
        "txcalc params llama-3.1-70b qwen2.5-72b",
        "txcalc params gpt2-small --set d_model=1024 --set n_heads=16 --set d_ff=4*d_model",
    ),
    "flops": (
        "txcalc flops gpt3 --ctx 2048",
        "txcalc flops llama-3.1-8b --phase prefill --ctx 8Ki --scores causal",
        "txcalc flops deepseek-v3 --phase decode --batch 64 --mla absorbed",
    ),
    "kvcache": (
        "txcalc kvcache llama-3.1-70b --ctx 32Ki",
        "txcalc kvcache gemma-3-27b-text --ctx 128Ki --kv fp8",
        "txcalc kvcache mistral-7b mixtral-8x7b --batch 16",
    ),
    "image": (
        "txcalc image qwen2.5-vl-7b --image 480x640",
        "txcalc image qwen2.5-vl-7b --image 1080x1920,448x448",
        "txcalc image qwen2.5-vl-7b --image 224x224 --explain",
    ),
    "audio": (
        "txcalc audio voxtral-mini-3b --audio 30",
        "txcalc audio voxtral-mini-3b --audio 95.5",
        "txcalc audio voxtral-mini-3b --audio 10 --explain",
    ),
    "intensity": (
        "txcalc intensity gpt3 --prompt 2048",
        "txcalc intensity llama-3.1-8b --batch 32 --ctx 4Ki",
        "txcalc intensity mixtral-8x7b --weights int8 --explain",
    ),
    "concurrency": (
        "txcalc concurrency gpt3 --ctx 2048",
        "txcalc concurrency llama-3.1-8b llama-3.1-70b --ctx 8Ki",
        "txcalc concurrency qwen3-32b --weights int4 --kv fp8",
    ),
    "memory": (
        "txcalc memory llama-3.1-70b --tp 8 --ctx 8Ki --batch 16",
        "txcalc memory llama-3.1-405b --tp 8 --pp 2 --weights fp8",
        "txcalc memory deepseek-v3 --tp 8 --dp 2 --ep --mtp --engine vllm",
    ),
    "fit": (
        "txcalc fit llama-3.1-70b --device h100-sxm --count 4 --ctx 32Ki --requests 40",
        "txcalc fit mixtral-8x7b --ctx 32Ki --requests 8",
        "txcalc fit --device rtx-4090 --ctx 8Ki --weights awq-g128",
    ),
    "train": (
        "txcalc train gpt3-xl --train-tokens 26B --gpus 8 --device a100-80gb --throughput 14000",
        "txcalc train llama-3.1-8b --ctx 8Ki --attention flash --recompute block",
        "txcalc train llama-3.1-70b --ctx 4Ki --lora 16 --gpus 8 --device a100-80gb --mfu 0.4",
    ),
    "trainmem": (
        "txcalc trainmem llama-3.1-8b --ctx 8Ki --attention flash",
        "txcalc trainmem gpt2-small --micro-batch 8 --dropout 0.1 --recipe autocast",
        "txcalc trainmem mixtral-8x7b --ctx 4Ki --attention flash --recompute block",
    ),
    "roofline": (
        "txcalc roofline llama-3.1-8b --device h100-sxm --ctx 4Ki --batch 64",
        "txcalc roofline llama-3.1-70b --device h100-sxm --count 4 --batch 30 --kv fp8",
        "txcalc roofline deepseek-v3 --device h200 --dp 16 --ep --batch 1024 --ctx 4Ki",
    ),
    "regimes": (
        "txcalc regimes gpt2-small llama-3.1-8b",
        "txcalc regimes llama-3.1-8b --phase prefill --scores causal",
        "txcalc regimes qwen3-32b --batch 32 --kv fp8",
    ),
    "compare": (
        "txcalc compare llama-3.1-70b qwen3-32b mixtral-8x7b --ctx 32Ki",
        "txcalc compare llama-3.1-8b qwen3-8b --device rtx-4090 --ctx 8Ki --batch 8",
        "txcalc compare deepseek-v3 gpt-oss-120b --device h200 --count 8 --weights own",
    ),
    "generation": (
        "txcalc generation gpt2-small",
        "txcalc generation llama-3.1-8b --prompt 512 --new 256",
        "txcalc generation deepseek-v3 --mla reexpand --explain",
    ),
    "shapes": (
        "txcalc shapes gpt2-small",
        "txcalc shapes llama-3.1-8b --batch 2 --tokens 16",
        "txcalc shapes deepseek-v3 --format json",
    ),
    "show": (
        "txcalc show gpt3",
        "txcalc show llama-3.1-70b --ctx 8Ki --kv fp8",
        "txcalc show mixtral-8x7b --explain",
    ),
    "models": (
        "txcalc models",
        "txcalc models 70b mla",
        "txcalc models --kind hybrid --format csv",
    ),
    "devices": (
        "txcalc devices",
        "txcalc devices h100 mi300x",
        "txcalc devices tpu --format json",
    ),
    "addresses": (
        "txcalc addresses gpt3",
        "txcalc addresses deepseek-v3 attention",
        "txcalc addresses jamba-v0.1 kvcache.",
    ),
    "import": (
        "txcalc import config.json > model.yaml",
        "txcalc import . --strict",
        "txcalc import config.json --type llama",
    ),
    "get": (
        "txcalc get gpt3 params.total",
        "txcalc get gpt3 'flops.total / (2*n(params.total))' --ctx 2048",
        "txcalc get gpt2-small params.total --set n_layers=48 --explain",
    ),
    "explain": (
        "txcalc explain gpt3 kvcache.sequence --ctx 2048",
        "txcalc explain deepseek-v3 params.total --depth 2",
        "txcalc explain gpt3 '6*n(params.total) + 12*dims.n_layers*dims.d_model*2048'",
    ),
    "sweep": (
        "txcalc sweep gpt3 kvcache.sequence --over ctx=512:4Ki:x2",
        "txcalc sweep params.total weights.bytes --over model=gpt3,llama-3.1-405b",
        "txcalc sweep gpt2-small params.total --over n_layers=12:48:+12 --format csv",
    ),
    "solve": (
        "txcalc solve gpt3 'params.total >= 1e12' --for n_layers",
        "txcalc solve llama-3.1-8b 'roofline.decode.time >= 0.05' --for batch --device h100-sxm",
        "txcalc solve llama-3.1-8b 'kvcache.sequence >= weights.bytes' --for ctx",
    ),
    "check": (
        "txcalc check README.md docs",
        "txcalc check claims.yaml --format json",
        "txcalc check README.md --write",
    ),
    "page": (
        "txcalc page gpt3 -o page.html",
        "txcalc page gpt3 deepseek-v3 gemma-3-27b-text -o page.html",
        "txcalc page llama-3.1-8b --set n_layers=48 -o page.html",
    ),
    "plot": (
        "txcalc plot sweep gpt3 kvcache.sequence --over ctx=512:64Ki:x2 -o cache.svg",
        "txcalc plot memory gpt3 --ctx 2048 --device h100-sxm -o memory.png",
        "txcalc plot params gpt2-small gpt3 deepseek-v3 --dark -o params.svg",
    ),
    "prove": (
        "txcalc prove gpt2-small",
        "txcalc prove toy --set n_heads=8 --ctx 16",
        "txcalc prove deepseek-v3 --format json",
    ),
    "verify": (
        "txcalc verify model.safetensors",
        "txcalc verify config.json . --strict",
        "txcalc verify config.json model.safetensors --format json",
    ),
}
